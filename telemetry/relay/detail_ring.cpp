#include "telemetry/relay/detail_ring.hpp"

#include <algorithm>

namespace rankscope {
namespace {

template <class Rows, class Begin, class End>
Coverage cover(const Rows& rows, Begin begin, End end) {
  Coverage c;
  c.events = static_cast<std::int64_t>(rows.size());
  if (rows.empty()) return c;
  c.begin_ns = begin(rows.front());
  c.end_ns = end(rows.front());
  for (const auto& row : rows) {
    c.begin_ns = std::min(c.begin_ns, begin(row));
    c.end_ns = std::max(c.end_ns, end(row));
  }
  return c;
}

Coverage cover(const SpanBatch& e) {
  return cover(
      e.spans, [](const Span& s) { return s.begin_ns; }, [](const Span& s) { return s.end_ns; });
}
Coverage cover(const MemoryBatch& e) {
  const auto time = [](const MemorySample& s) { return s.time_ns; };
  return cover(e.samples, time, time);
}
Coverage cover(const PhaseBatch& e) {
  return cover(
      e.phases, [](const PhaseSpan& p) { return p.begin_ns; }, [](const PhaseSpan& p) { return p.end_ns; });
}
Coverage cover(const Gap& e) { return {e.begin_ns, e.end_ns, e.events}; }
template <class Reliable>
Coverage cover(const Reliable&) {
  return {};
}

}  // namespace

Coverage coverage_of(const Event& event) {
  return std::visit([](const auto& e) { return cover(e); }, event);
}

void add_to_gap(Gap& gap, const DetailEntry& entry) {
  const bool fresh = gap.last_sequence == 0;
  gap.rank = entry.sender;
  gap.begin_ns = fresh ? entry.begin_ns : std::min(gap.begin_ns, entry.begin_ns);
  gap.end_ns = fresh ? entry.end_ns : std::max(gap.end_ns, entry.end_ns);
  gap.events += entry.events;
  gap.first_sequence = fresh ? entry.sequence : std::min(gap.first_sequence, entry.sequence);
  gap.last_sequence = std::max(gap.last_sequence, entry.sequence);
}

void DetailRing::push(DetailEntry entry) {
  bytes_ += entry.bytes.size();
  entries_.push_back(std::move(entry));
  while (bytes_ > limit_ && first_ + 1 < end()) {
    DetailEntry& out = entries_[first_ - oldest_];
    bytes_ -= out.bytes.size();
    out.bytes = {};
    ++first_;
  }
  while (first_ - oldest_ > remembered_) {
    add_to_gap(forgotten_[entries_.front().sender], entries_.front());
    entries_.pop_front();
    ++oldest_;
  }
}

}  // namespace rankscope
