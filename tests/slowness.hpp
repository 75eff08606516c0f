// Time in builds with a sanitizer.
#pragma once

namespace rankscope::test {

/// Sanitizers make programs some ten times as slow: limits that say "within seconds" are this many times as long there,
/// and so are durations beside which a program's own work must not count.
inline constexpr int slowness = RANKSCOPE_SLOWNESS;

}  // namespace rankscope::test
