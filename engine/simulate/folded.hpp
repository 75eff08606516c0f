// A step without anybody's program: ranks alike by symmetry are one, chunks are one op, and only pipeline stages are
// laid out in time. For plans whose programs would be millions of ops, and for software that does not overlap.
//
// Data and tensor ranks of a stage do the same at the same time, so one of them stands for all; what they exchange
// within a chunk stands in the way of its compute and is added to it. Work and memory are in proportion to chunks ×
// micro-batches.
#pragma once
#include <cstddef>

#include "engine/scenario/scenario.hpp"

namespace rankscope {

/// Where a rank's time goes, seconds averaged over stages; together they are `seconds`.
struct FoldedStep {
  double seconds = 0;
  double compute = 0, recompute = 0;
  double tensor = 0;    ///< exchanges of tensor ranks
  double pipeline = 0;  ///< messages that block compute, and the sum of a tied embedding's gradients
  double data = 0;      ///< what is exposed of the reductions of gradients; with ZeRO-1 the gathers of parameters, too
  double optimizer = 0;
  double bubble = 0;
  double model_flops = 0, hardware_flops = 0;  ///< of all ranks; the second with recomputation
  std::size_t ops = 0;                         ///< that were laid out

  double mfu(const ClusterSpec& cluster, DType type, int ranks) const;
  double hfu(const ClusterSpec& cluster, DType type, int ranks) const;
  /// With all devices at cluster.power_watts: an upper bound. 0 where that is not said.
  double joules(const ClusterSpec& cluster, int ranks) const { return seconds * cluster.power_watts * ranks; }
};

/// Throws std::invalid_argument for a plan that cannot be folded (why_not_folded says so), or whose schedule waits for
/// itself, or for figures that the cluster lacks.
///
/// Messages: with cluster.overlap on lanes of their own, in order, one for each direction; without it a sender computes
/// nothing until what it sends has arrived. Gradients are reduced once, after a stage's last backward; with
/// cluster.overlap behind it, as far as it reaches. The update begins when all have reduced (norm and clipping). With
/// sequence parallelism, software that is not `fused` gathers its rows again for the weights' gradients (Korthikanti et
/// al. 2022, section 4.2.2).
FoldedStep fold_step(const Scenario& scenario);

/// Empty where fold_step can; else what it lacks: ranks that are not alike (a slow one), what happens once a
/// micro-batch over data ranks (ZeRO-2 and 3).
const char* why_not_folded(const Scenario& scenario);

}  // namespace rankscope
