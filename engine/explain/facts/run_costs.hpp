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
  Calibration measured;  ///< the run's expected cost of each kind of work
  /// For each kind and segment: the run's expected costs of all its ops, divided by those of modelled_costs.
  std::map<std::pair<OpKind, Segment>, double> over_model;
  double compute_over_model = 1;  ///< of all the model's compute, for kinds and segments that the run does not have
};

/// Of the steps that a run expects (obtained: simulated). Empty if it reported none, if programs are missing, or if
/// its costs were the cluster's figures themselves (device "sleep", or only predicted). `context` is the run's.
std::optional<RunCosts> costs_of_run(const StoreView& run, const RunContext& context);

/// Costs of any plan of the run's model: work that the run also has gets the run's expected cost; other work (another
/// micro-batch size, another share of a layer) gets the cost of modelled_costs, times the factor of its kind and
/// segment. Links and collectives are the cluster's; fault.slow_rank is as slow as in `scenario`.
/// Throws what modelled_costs throws.
Costs costs_as_in(const RunCosts& run, const Scenario& scenario, const Model& model);

}  // namespace rankscope
