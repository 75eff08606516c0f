#include "telemetry/trace/trace_layout.hpp"

namespace rankscope {

std::uint16_t channel_of(const Event& event) {
  struct {
    std::uint16_t operator()(const Hello&) const { return 1; }
    std::uint16_t operator()(const ProgramRecord&) const { return 1; }
    std::uint16_t operator()(const ClockRecord&) const { return 1; }
    std::uint16_t operator()(const End&) const { return 1; }
    std::uint16_t operator()(const Gap&) const { return 1; }
    std::uint16_t operator()(const StepSummary&) const { return 2; }
    std::uint16_t operator()(const SpanBatch&) const { return 3; }
    std::uint16_t operator()(const MemoryBatch&) const { return 4; }
    std::uint16_t operator()(const PhaseBatch&) const { return 5; }
  } channel;
  return std::visit(channel, event);
}

bool is_telemetry(mcap::View data) {
  constexpr std::string_view identifier = "RSEV";  // event.fbs; FlatBuffers puts it behind the root's offset
  return data.size() >= 8 && mcap::Reader::as_text(data.subspan(4, 4)) == identifier;
}

}  // namespace rankscope
