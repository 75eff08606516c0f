// Costs of ops: the textbook's units, a machine's roofline, and the links.
#pragma once
#include "engine/plan/collective/transfer.hpp"
#include "engine/plan/model/model.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "engine/predict/cost/costs.hpp"

namespace rankscope {

/// The textbook picture: a chunk's forward takes one unit and its backward two (a split backward's halves and
/// recomputation one each), spread over its segments by their FLOPs; all else, communication included, is free.
/// Segments of a chunk add up to its units to the nanosecond. `first_segment` is StepProgram's.
Costs unit_costs(const Model& model, const std::vector<int>& first_segment, std::int64_t unit_ns = 1'000'000);
/// The same for programs that are folded to chunks (segment whole) already.
Costs unit_costs(std::int64_t unit_ns = 1'000'000);

/// A model of the scenario's cluster, from its figures alone:
///
///   forward, backward, …   the kernels of kernels.hpp where the cluster says what decides their pace
///                          (multiprocessors), else max(FLOPs / peak of the precision, bytes / memory bandwidth) + op
///                          overhead (roofline; Williams, Waterman and Patterson 2009). A folded op is the sum of its
///                          segments'. Less what a backward's exchanges cover (hidden_exchange_seconds), which are
///                          laid out as if nothing did. Where software.recompute_whole says so, a block's last repeated
///                          op takes what is behind it in the block, too
///   optimizer, loads       operands' bytes / sustained memory bandwidth + op overhead; what is accumulated moves
///                          twice, and what an optimizer reads in several passes (OptimizerRule) once for each;
///                          updates that are not `fused`: update_bytes_per_parameter. The host's at the host's memory
///                          bandwidth
///   … that were measured   what cluster.costs has for them goes before (measured.hpp)
///   copies                 bytes / bandwidth between device and host + op overhead
///   messages, collectives  cluster_link, between stages stage_message_cost; collectives by plan.collective ("auto" is
///                          a ring; where the cluster says how it hangs together the faster of ring and tree, and
///                          named algorithms transfer by transfer: collective_costs.hpp)
///
/// fault.slow_rank's compute takes fault.slow_factor times as long. Throws std::invalid_argument that names the cluster
/// key when a figure that is needed is not positive.
Costs modelled_costs(const Scenario& scenario, const Model& model);

/// What an op that takes `ns` on any other rank takes on that one: fault.slow_rank's compute of the model takes
/// fault.slow_factor times as long.
std::int64_t slowed_ns(const FaultSpec& fault, std::int32_t rank, OpKind kind, std::int64_t ns);
/// Costs that do not know of the fault, with it.
Costs slowed_costs(Costs costs, const FaultSpec& fault);

/// Bytes that an op which is no communication and computes nothing of the model moves through memory: each operand
/// once, accumulated ones twice; gradients and parameters once more for every further pass of the optimizer's update.
/// Of a copy what is copied.
double moved_bytes(const RankProgram& program, const Op& op, const OptimizerRule& rule);

/// Seconds of the exchanges behind segment `segment` of the model's backward, which other work of that segment covers
/// where software.overlap_exchanges says so: the sum of the input gradient of what the segment before has made (f of
/// Megatron-LM, and with sequence parallelism its reduce-scatter) runs beside this segment's weight gradient, and the
/// rows that are gathered again beside its input gradient (Korthikanti et al. 2022, section 4.2.2). 0 where it does
/// not.
double hidden_exchange_seconds(const Scenario& scenario, const Model& model, std::size_t segment,
                               std::span<const int> tensor_group);

}  // namespace rankscope
