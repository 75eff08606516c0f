// Whether a run was stopped by request: not a failure, though not all steps were run.
#pragma once
#include <string_view>

#include "telemetry/event/event.hpp"

namespace rankscope {

/// The first words of the message of such an end.
inline constexpr std::string_view stopped_by_request = "stopped by request";
inline bool was_stopped(const End& end) { return !end.ok && end.message.rfind(stopped_by_request, 0) == 0; }

}  // namespace rankscope
