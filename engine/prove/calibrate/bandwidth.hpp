// The memory bandwidth of this machine, for the slope of a roofline: copies that do not fit a cache.
#pragma once
#include "engine/execute/run/platform.hpp"

namespace rankscope {

struct BandwidthEffort {
  /// Size of each copy's source; twice that is allocated during the measurement. With several threads, it is
  /// divided among them.
  std::int64_t bytes = 128 << 20;
  double seconds = 0.3;
};

/// Bytes read and written per second, by the wall clock: the best of several copies (McCalpin's STREAM counts a copy in
/// the same way, 1995), on as many threads as the platform's kernels have. If memory is short, with smaller
/// copies.
double measure_memory_bandwidth(const Platform& platform, BandwidthEffort effort = {});

}  // namespace rankscope
