#include "telemetry/trace/trace_layout.hpp"

namespace rankscope {

std::uint16_t channel_of(EventKind kind) {
  switch (kind) {
    case EventKind::hello:
    case EventKind::program:
    case EventKind::clock:
    case EventKind::end:
    case EventKind::gap: return 1;
    case EventKind::summary: return 2;
    case EventKind::spans: return 3;
    case EventKind::memory: return 4;
    case EventKind::phases: return 5;
  }
  return 1;
}

bool is_telemetry(mcap::View data) {
  constexpr std::string_view identifier = "RSEV";  // event.fbs; FlatBuffers puts it behind the root's offset
  return data.size() >= 8 && mcap::Reader::as_text(data.subspan(4, 4)) == identifier;
}

}  // namespace rankscope
