// Costs of ops: the textbook's units, a machine's roofline, and the links.
#pragma once
#include "engine/plan/collective/transfer.hpp"
#include "engine/plan/model/model.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "engine/predict/cost/costs.hpp"

namespace rankscope {

/// The textbook model: a chunk's forward takes one unit and its backward two (a split backward's halves and
/// recomputation one each), distributed over its segments by their FLOPs; all else, communication included, is free.
/// Segments of a chunk sum to its units exactly, to the nanosecond. `first_segment` is StepProgram's.
Costs unit_costs(const Model& model, const std::vector<int>& first_segment, std::int64_t unit_ns = 1'000'000);
/// The same for programs that are folded to chunks (segment whole) already.
Costs unit_costs(std::int64_t unit_ns = 1'000'000);

/// A model of the scenario's cluster, from its figures alone:
///
///   forward, backward, …   the kernels of kernels.hpp if the cluster's figures include
///                          multiprocessors, else max(FLOPs / sustained peak, bytes / sustained bandwidth) + op
///                          overhead (roofline; Williams, Waterman and Patterson 2009). A folded op is the sum of its
///                          segments'. Minus hidden parts of backward exchanges (hidden_exchange_seconds);
///                          these are laid out in full. With software.recompute_whole, a block's last repeated
///                          op includes the segments after it in the block
///   optimizer, loads       operands' bytes / sustained memory bandwidth + op overhead; accumulated data move
///                          twice, and data read in several passes (OptimizerRule) once for each;
///                          updates that are not `fused`: update_bytes_per_parameter. The host's at the host's memory
///                          bandwidth
///   … that were measured   their times in cluster.costs take precedence (measured.hpp)
///   copies                 bytes / bandwidth between device and host + op overhead
///   messages, collectives  cluster_link, between stages stage_message_cost; collectives by plan.collective and
///                          software.collectives: collective_costs.hpp
///
/// fault.slow_rank's compute takes fault.slow_factor times as long. Throws std::invalid_argument that names the cluster
/// key if a required figure is not positive.
Costs modelled_costs(const Scenario& scenario, const Model& model);

/// Time on that rank of an op that takes `ns` on any other: fault.slow_rank's compute of the model takes
/// fault.slow_factor times as long.
std::int64_t slowed_ns(const FaultSpec& fault, std::int32_t rank, OpKind kind, std::int64_t ns);
/// Adds the fault to costs without it.
Costs slowed_costs(Costs costs, const FaultSpec& fault);

/// Bytes through memory of an op that is neither a communication nor compute of the model: each operand
/// once, accumulated ones twice; gradients and parameters once more for every further pass of the optimizer's update.
/// For a copy, the copied bytes.
double moved_bytes(const RankProgram& program, const Op& op, const OptimizerRule& rule);

/// Seconds of the exchanges after segment `segment` of the model's backward that overlap with its other work
/// with software.overlap_exchanges: the sum of the input gradient for the previous segment's result (f of
/// Megatron-LM, and with sequence parallelism its reduce-scatter) runs during this segment's weight gradient, and the
/// rows that are gathered again during its input gradient (Korthikanti et al. 2022, section 4.2.2). 0 if there is
/// no overlap.
double hidden_exchange_seconds(const Scenario& scenario, const Model& model, std::size_t segment,
                               std::span<const int> tensor_group);

}  // namespace rankscope
