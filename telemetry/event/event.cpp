#include "telemetry/event/event.hpp"

namespace rankscope {

std::string_view name_of(Obtained obtained) {
  switch (obtained) {
    case Obtained::measured: return "measured";
    case Obtained::emulated: return "emulated";
    case Obtained::simulated: return "simulated";
  }
  return "?";
}

std::optional<Obtained> obtained_named(std::string_view name) {
  for (const Obtained obtained : {Obtained::measured, Obtained::emulated, Obtained::simulated})
    if (name_of(obtained) == name) return obtained;
  return std::nullopt;
}

std::string_view name_of(ClockDomain clock) {
  switch (clock) {
    case ClockDomain::wall: return "wall";
    case ClockDomain::device: return "device";
  }
  return "?";
}

std::string_view name_of(PowerSource source) {
  switch (source) {
    case PowerSource::none: return "none";
    case PowerSource::nvml: return "nvml";
    case PowerSource::rapl: return "rapl";
  }
  return "?";
}

bool is_control(const Event& event) {
  return std::holds_alternative<Hello>(event) || std::holds_alternative<ProgramRecord>(event) ||
         std::holds_alternative<ClockRecord>(event) || std::holds_alternative<End>(event);
}

bool is_reliable(const Event& event) { return is_control(event) || std::holds_alternative<StepSummary>(event); }

}  // namespace rankscope
