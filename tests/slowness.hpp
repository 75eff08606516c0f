// Time factors for builds with a sanitizer.
#pragma once

namespace rankscope::test {

/// Sanitizers make programs about ten times as slow. Limits such as "within seconds" are multiplied by this factor, and
/// so are durations that must be long compared with the program's own work.
inline constexpr int slowness = RANKSCOPE_SLOWNESS;

}  // namespace rankscope::test
