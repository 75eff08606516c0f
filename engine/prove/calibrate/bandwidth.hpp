// The memory bandwidth of this machine, as the slope of a roofline needs it: copies that no cache holds.
#pragma once
#include "engine/execute/run/platform.hpp"

namespace rankscope {

struct BandwidthEffort {
  /// Of each copy's source; twice that is taken for the time of the measurement. Where there are several threads, it is
  /// divided among them.
  std::int64_t bytes = 128 << 20;
  double seconds = 0.3;
};

/// Bytes read and written per second, by the wall clock: the best of several copies (McCalpin's STREAM counts a copy in
/// the same way, 1995), on as many threads as the platform's kernels have. Where memory for it is short, of smaller
/// copies.
double measure_memory_bandwidth(const Platform& platform, BandwidthEffort effort = {});

}  // namespace rankscope
