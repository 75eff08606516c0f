#include "telemetry/stream/viewer_history.hpp"

#include "telemetry/stream/spool_format.hpp"

namespace rankscope {
namespace {

constexpr std::size_t entry_bytes = 20;  // rank, first, last
constexpr std::size_t most_entries = 4096;

}  // namespace

std::string pack_history(const std::map<std::int32_t, SequenceSet>& seen) {
  std::string text;
  for (const auto& [rank, set] : seen)
    for (const SequenceSet::Interval& interval : set.intervals()) {
      if (text.size() >= most_entries * entry_bytes) return text;
      std::array<std::byte, entry_bytes> entry{};
      spool_format::put(entry.data(), static_cast<std::uint32_t>(rank));
      spool_format::put(entry.data() + 4, interval.first);
      spool_format::put(entry.data() + 12, interval.last);
      text.append(reinterpret_cast<const char*>(entry.data()), entry.size());
    }
  return text;
}

std::map<std::int32_t, SequenceSet> unpack_history(std::span<const std::byte> bytes) {
  std::map<std::int32_t, SequenceSet> seen;
  for (std::size_t i = 0; i < most_entries && bytes.size() >= entry_bytes; ++i, bytes = bytes.subspan(entry_bytes))
    seen[static_cast<std::int32_t>(spool_format::get<std::uint32_t>(bytes.data()))].insert(SequenceSet::Interval{
        spool_format::get<std::uint64_t>(bytes.data() + 4), spool_format::get<std::uint64_t>(bytes.data() + 12)});
  return seen;
}

}  // namespace rankscope
