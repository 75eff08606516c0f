// Costs that a run predicted for itself, applied to other plans: a run measures its ops alone before the
// first step and reports their expected costs; with these, plans of the same model are predicted like the run.
#pragma once
#include <map>
#include <optional>
#include <utility>

#include "engine/explain/facts/facts.hpp"
#include "engine/predict/cost/calibration.hpp"

namespace rankscope {

struct RunCosts {
  Calibration measured;  ///< what each kind of work was said to take
  /// Of all ops of a kind and segment, what they were said to take over what modelled_costs has for them.
  std::map<std::pair<OpKind, Segment>, double> over_model;
  double compute_over_model =
      1;  ///< of the model's compute together, for kinds and segments that the run does not have
};

/// Of the steps that a run expects (obtained: simulated). Nothing where it told none, where programs are missing, or
/// where its costs were the cluster's figures themselves (device "sleep", or only predicted). `context` is the run's.
std::optional<RunCosts> costs_of_run(const StoreView& run, const RunContext& context);

/// Costs of any plan of the run's model: work that the run has takes what it was said to take; other work (another
/// micro-batch size, another share of a layer) what modelled_costs has for it, times what the run's ops of its kind and
/// segment were over theirs. Links and collectives are the cluster's; fault.slow_rank is slow as `scenario` says.
/// Throws what modelled_costs throws.
Costs costs_as_in(const RunCosts& run, const Scenario& scenario, const Model& model);

}  // namespace rankscope
