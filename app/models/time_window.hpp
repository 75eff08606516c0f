// SPDX-License-Identifier: GPL-3.0-or-later
// The visible time range as arithmetic: zoom at a point, pan, clamp. Integer nanoseconds.
#pragma once
#include <cstdint>

#include "telemetry/store/run_store.hpp"

namespace rankscope {

/// No view shows less than this: at 2,000 pixels half a nanosecond each, below the resolution of any clock.
inline constexpr std::int64_t least_visible_ns = 1000;

/// `range` moved and shortened so that it is within `bounds` widened by a quarter of the range's own length on both
/// sides (so that the first and the last op can be moved to the middle); never shorter than least_visible_ns and
/// never longer than the bounds and their margins. The length is unchanged if possible.
TimeRange clamped(TimeRange range, TimeRange bounds);

/// The range `factor` times as long (below 1 zooms in) in which `at_ns` keeps its screen position.
TimeRange zoomed(TimeRange range, double factor, std::int64_t at_ns);

TimeRange moved(TimeRange range, std::int64_t by_ns);

/// `range` widened by `share` of its length on both sides: what "fit" shows.
TimeRange widened(TimeRange range, double share);

/// The part of `a` within `b`; empty when they do not overlap.
TimeRange intersection(TimeRange a, TimeRange b);

}  // namespace rankscope
