#include "telemetry/stream/lane_writer.hpp"

#include <algorithm>

namespace rankscope {
namespace {

constexpr std::size_t gap_rows = 64;

}  // namespace

LaneWriter::LaneWriter(std::int32_t rank, Obtained obtained, ClockDomain clock, std::uint32_t every,
                       std::size_t ring_rows, Bell& bell)
    : rank_(rank),
      obtained_(obtained),
      clock_(clock),
      every_(std::max<std::uint32_t>(every, 1)),
      bell_(bell),
      spans_(ring_rows),
      phases_(ring_rows),
      memory_(ring_rows),
      gaps_(gap_rows) {}

void LaneWriter::drop(std::int64_t begin_ns, std::int64_t end_ns) {
  end_ns = std::max(begin_ns, end_ns);
  pending_.begin_ns = pending_.events == 0 ? begin_ns : std::min(pending_.begin_ns, begin_ns);
  pending_.end_ns = pending_.events == 0 ? end_ns : std::max(pending_.end_ns, end_ns);
  ++pending_.events;
  dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void LaneWriter::report_gap() {
  pending_.rank = rank_;
  if (gaps_.push(pending_)) pending_ = {};
}

}  // namespace rankscope
