#include "telemetry/relay/detail_ring.hpp"

#include <algorithm>

namespace rankscope {
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
  bytes_ += entry.message.bytes.size();
  entries_.push_back(std::move(entry));
  while (bytes_ > limit_ && first_ + 1 < end()) {
    DetailEntry& out = entries_[first_ - oldest_];
    bytes_ -= out.message.bytes.size();
    out.message = {};
    ++first_;
  }
  while (first_ - oldest_ > remembered_) {
    add_to_gap(forgotten_[entries_.front().sender], entries_.front());
    entries_.pop_front();
    ++oldest_;
  }
}

}  // namespace rankscope
