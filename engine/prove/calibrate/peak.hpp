// The peak for MFU: the best rate of a large product of random matrices, on each of the two clocks that
// a step is timed with, so that both sides of the ratio use the same clock.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/execute/run/platform.hpp"
#include "kernels/tensor/type.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope {

/// FLOP/s by the clocks of a step. On a host the device clock counts the CPU time of the thread that calls a kernel,
/// whatever the number of threads, as it does for an op; on a GPU both are the device's own.
struct PeakFlops {
  double device = 0, wall = 0;
  double on(ClockDomain clock) const { return clock == ClockDomain::device ? device : wall; }
};

struct PeakMeasurement {
  PeakFlops best;
  std::int64_t size = 0;  ///< of the square matrices that reach it
  int samples = 0;        ///< products, of that size
  /// How far the third best product is from the best one, relative, on the worse of both clocks: if it is small,
  /// a fourth would not be better.
  double spread = 0;
  /// Steady enough as a divisor of other figures.
  bool steady() const { return spread <= steady_peak_spread; }
};

struct PeakEffort {
  double least_seconds = 1;  ///< short bursts over this time: a disturbance of one does not affect all
  double most_seconds = 4;   ///< if it is not steady before
};

/// Of the platform's kernels on all its threads.
PeakMeasurement measure_peak(DType type, const Platform& platform, PeakEffort effort = {});

/// The best of a few products of that size: some hundredths of a second.
PeakFlops glance_at_peak(DType type, const Platform& platform, std::int64_t size);

}  // namespace rankscope
