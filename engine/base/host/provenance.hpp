// Place and time of a measurement, as written in recordings.
#pragma once
#include <string>

namespace rankscope {

/// This machine's; empty if it has none.
std::string host_name();
/// "2026-11-21T09:30:00Z".
std::string utc_now();

}  // namespace rankscope
