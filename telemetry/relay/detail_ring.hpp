// The latest detail of all ranks, bounded in bytes and shared by all viewers: each viewer has a cursor into this ring.
// For messages that were dropped it keeps rank, sequence, time and position in the spool, so that they can be reported
// as gaps and fetched again.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "telemetry/event/event.hpp"
#include "telemetry/stream/spool.hpp"

namespace rankscope {

/// A message's bytes and the owner of their memory: many messages share the buffer in which they arrived.
struct SharedBytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};
inline SharedBytes shared(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const std::span<const std::byte> view(*owner);
  return {std::move(owner), view};
}

struct DetailEntry {
  std::int32_t sender = 0;
  std::uint64_t sequence = 0;
  std::int64_t begin_ns = 0, end_ns = 0, events = 0;
  std::optional<SpoolPosition> position;
  SharedBytes message;  ///< empty once it was dropped from the ring
};

/// Extends `gap` by an entry of the same rank.
void add_to_gap(Gap& gap, const DetailEntry& entry);

class DetailRing {
 public:
  explicit DetailRing(std::size_t bytes, std::size_t remembered = 200'000) : limit_(bytes), remembered_(remembered) {}

  void push(DetailEntry entry);

  /// Entries have numbers that never change: [oldest, first) have lost their bytes, [first, end) are complete.
  std::uint64_t oldest() const { return oldest_; }
  std::uint64_t first() const { return first_; }
  std::uint64_t end() const { return oldest_ + entries_.size(); }
  const DetailEntry& at(std::uint64_t number) const { return entries_[number - oldest_]; }
  /// Messages without an entry, one gap per rank.
  const std::map<std::int32_t, Gap>& forgotten() const { return forgotten_; }

 private:
  const std::size_t limit_, remembered_;
  std::deque<DetailEntry> entries_;
  std::uint64_t oldest_ = 0, first_ = 0;
  std::size_t bytes_ = 0;
  std::map<std::int32_t, Gap> forgotten_;
};

}  // namespace rankscope
