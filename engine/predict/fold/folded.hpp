// A step without programs: ranks identical by symmetry are one, chunks are one op, and only pipeline stages are
// laid out in time. For plans whose programs would be millions of ops, and for software that does not overlap.
//
// Data and tensor ranks of a stage do the same at the same time, so one of them represents all; their exchanges
// within a chunk block its compute and are added to it. Work and memory are proportional to chunks ×
// micro-batches.
//
// Why a second layout besides engine/predict/layout: the programs of 3,072 ranks take minutes and gigabytes, their
// folded step less than a second. A test's limits on the difference (tests/engine/predict/simulate/folded_test.cpp): 2
// % of the step; 4 % with a straggler; 5 % where software does not overlap or gathers ahead; 7 % with ZeRO-2 and 3.
#pragma once
#include <cstddef>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"
#include "engine/predict/cost/ledger.hpp"

namespace rankscope {

/// An op of a folded rank's time line, seconds from the step's begin. A chunk's forward or backward includes its
/// recomputation and the exchanges of its tensor ranks; ops of the whole step (reductions, the update) have no chunk.
/// Op ids are those of programs that are folded to chunks.
struct FoldedSpan {
  OpId op;
  double begin = 0, end = 0;
};

/// Where a rank's time goes, seconds averaged over stages; `compute` to `bubble` sum to `seconds`.
struct FoldedStep {
  double seconds = 0;
  /// Of the slowest stage, from its first op to the end of its update. This is the time of a step if no
  /// stage waits for the others' gradients before it updates, so that steps overlap (Qi et al. 2024, arXiv 2401.10241,
  /// section 4).
  double longest_span = 0;
  double compute = 0, recompute = 0;
  double tensor = 0;     ///< exchanges of tensor ranks
  double pipeline = 0;   ///< messages that block compute, and the sum of a tied embedding's gradients
  double data = 0;       ///< the exposed part of the reductions of gradients
  double zero = 0;       ///< the same with ZeRO-1, and the gathers of parameters
  double optimizer = 0;  ///< copies between device and host included
  double bubble = 0;
  double model_flops = 0, hardware_flops = 0;  ///< of all ranks; the second with recomputation
  std::size_t ops = 0;                         ///< laid out
  std::vector<StageMemory> memory;             ///< [stage]

  double mfu(const ClusterSpec& cluster, DType type, int ranks) const;
  double hfu(const ClusterSpec& cluster, DType type, int ranks) const;
};

/// Throws std::invalid_argument for a plan that cannot be folded (see why_not_folded), for a schedule that deadlocks,
/// and for missing figures of the cluster.
///
/// One slow rank (fault.slow_rank) delays its replica, and all replicas wait for it at the end; one slow node
/// (cluster.slow_node) slows the rings through it and the messages of all stages.
///
/// Messages: with software.overlap each direction has its own lane, in order; without it a sender computes nothing
/// until its message has arrived, and blocks are recomputed only after their gradient has arrived. Gradients are
/// reduced once, after a stage's last backward; with software.overlap during it, up to its duration. The update begins
/// when all have reduced (norm and clipping); parameters of ZeRO-1 and 2 are gathered after it; with
/// software.gather_ahead only the part that does not overlap with the next step's first forwards counts. With ZeRO-2
/// and 3 gradients are reduced, with ZeRO-3 parameters gathered for each forward and backward, block by block in every
/// micro-batch: with software.overlap during compute, up to its duration; both share the links. With sequence
/// parallelism, software that is not `fused` gathers its rows again for the weights' gradients (Korthikanti et al.
/// 2022, section 4.2.2).
FoldedStep fold_step(const Scenario& scenario);

/// The bubble of the plan's schedule as defined in the zero-bubble paper (Qi et al. 2024, arXiv 2401.10241,
/// section 5.3): for the stage with the longest time from its first pass to its last, the share in which it computes
/// nothing, if every stage has plan.pass_times and messages overlap with compute (software.overlap). Throws
/// what fold_step throws.
double fold_bubble_of_times(const Scenario& scenario);

/// The time line of one world rank, by lane and begin. Ranks of a stage are identical, except in a straggler's replica
/// (fault.slow_rank). Throws what fold_step throws, and for a rank that does not exist.
std::vector<FoldedSpan> fold_timeline(const Scenario& scenario, int rank);

/// The memory of the same rank from op to op of its stage's order (the compute ops of fold_timeline), and last in the
/// update. Throws what fold_timeline throws.
std::vector<MemoryLevel> fold_levels(const Scenario& scenario, int rank);

/// Bytes that a rank sends in a step, a mean over the participating ranks; collectives are counted as rings.
struct FoldedTraffic {
  Purpose purpose = Purpose::none;
  OpKind kind = OpKind::send;
  GroupKind group = GroupKind::self;  ///< of a collective
  double count = 0;                   ///< ops of a rank
  double bytes_per_rank = 0;          ///< in all of them
};
/// By purpose, kind and group. Throws as fold_step.
std::vector<FoldedTraffic> fold_traffic(const Scenario& scenario);

/// Seconds of one micro-batch; the exchanges of tensor ranks are separate from compute.
struct BlockSeconds {
  double forward = 0, input_gradient = 0, weight_gradient = 0, recompute = 0;
  double exchange_forward = 0, exchange_backward = 0, exchange_recompute = 0;
  double forward_seconds() const { return forward + exchange_forward; }
  double backward_seconds() const {
    return input_gradient + weight_gradient + recompute + exchange_backward + exchange_recompute;
  }
};

/// Of a transformer block, the last of its chunk. Throws as fold_step.
BlockSeconds fold_block(const Scenario& scenario);

/// Empty if fold_step can; else the reason: ranks that are not identical (a main device, servers), or features
/// without costs here (the host as this engine uses it, named collectives).
const char* why_not_folded(const Scenario& scenario);

}  // namespace rankscope
