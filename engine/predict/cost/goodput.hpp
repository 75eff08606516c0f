// How much of a long run is progress, when devices fail and checkpoints take time.
#pragma once

namespace rankscope {

/// Seconds.
struct Failures {
  double between = 0;     ///< failures of the whole job, on average; 0: none
  double checkpoint = 0;  ///< in which nothing is trained
  double restart = 0;     ///< from a failure until training continues from the last checkpoint
};

struct Goodput {
  double share = 1;     ///< of the time: training whose result is kept
  double interval = 0;  ///< seconds of training between two checkpoints
  double failures = 0;  ///< expected
};

/// Of `training` seconds with a checkpoint after every `interval` of them (0: after the one that loses least, which is
/// near √(2 · checkpoint · between), Young 1974), where failures are independent of each other: each interval takes
///
///   (between + restart) · (e^((interval + checkpoint)/between) - 1)
///
/// on average (Daly 2006, "A higher order estimate of the optimum checkpoint interval for restart dumps"). Without
/// failures only checkpoints cost.
Goodput goodput(double training, double interval, const Failures& failures);

}  // namespace rankscope
