// Predicts the time of a plan's step on its cluster: from the programs of all ranks, or folded, if these would be too
// many ops and ranks are identical.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "engine/explain/facts/facts.hpp"

namespace rankscope {

/// Ops of the model in all ranks' programs: a simulation's time and memory are proportional to them.
double count_ops(const StepProgram& step);

/// What is laid out without being asked for: some seconds and 400,000 ops.
inline constexpr double usual_bytes = 1e9;
/// Throws PlanError if there are too many to create, check and lay out individually in this memory.
void check_size(const StepProgram& step, double most_bytes = usual_bytes);

/// True if predict_step folds: the plan has more ops than can be laid out in a second or two, or the cluster runs other
/// software than this engine, whose memory and messages this engine's programs do not have; and its ranks are
/// identical.
bool is_folded(const StepProgram& step);

/// Adds facts to programs that only other rooms have: kernels' scratch (engine/execute/run/scratch.hpp). Not called for
/// folded plans.
using Prepare = std::function<void(const StepProgram&, std::span<RankProgram>)>;

/// Throws PlanError for a plan of too many ops that cannot be folded, std::runtime_error if it deadlocks, and
/// std::invalid_argument if the cluster lacks a figure.
Report predict_step(const StepProgram& step, const Prepare& prepare = {});

/// A prediction with other costs than the cluster's figures.
struct OtherCosts {
  std::function<Costs(const StepProgram&)> costs;
  std::string from;       ///< Report::costs
  double peak_flops = 0;  ///< of the device on which the costs were measured
};

/// A report, and its input (empty for folded plans).
struct StepPrediction {
  Report report;
  std::shared_ptr<const RunContext> context;
  std::optional<RunFacts> facts;
};
/// As predict_scenario, for the command line and for the window. With `other` costs, which cannot be folded
/// (PlanError). `folds`: a caller that runs the plan afterwards needs every rank's program, and can wait longer for it.
/// `most_bytes`: of ops that are laid out (check_size).
StepPrediction predict_with_facts(const Scenario& scenario, const Prepare& prepare,
                                  const std::optional<OtherCosts>& other = {},
                                  const std::function<bool(const StepProgram&)>& folds = is_folded,
                                  double most_bytes = usual_bytes);

/// The numbers of a recording. For a folded prediction they are those of its scenario, predicted again. Throws as
/// context_of and predict_step.
Report report_of(const StoreView& recording);

/// Of the scenario, compiled; without the replicas that were lost with a node (after_lost_node), which the report then
/// names. Throws as compile, predict_step and after_lost_node.
Report predict_scenario(const Scenario& scenario, const Prepare& prepare = {});

/// A run of these tokens at the report's speed; if the cluster has a failure rate, with a checkpoint every that many
/// steps (0: the interval that loses the least time).
RunBudget budget_of(const Report& report, const ClusterSpec& cluster, double tokens, int checkpoint_every = 0);

}  // namespace rankscope
