// Collects the facts about a plan or a run for engine/explain/analyse: the only way from a scenario or a store to
// RunFacts, for the command line, for `rankscope-trace stats` and for the window.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/explain/analyse/report.hpp"
#include "engine/plan/program/compile.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {

/// The constant data of a run: made once, used for every report.
struct RunContext {
  StepProgram step;
  std::vector<RankProgram> programs;   ///< [rank]
  std::shared_ptr<const Step> linked;  ///< of the programs
  Simulation ideal;                    ///< the textbook's steps: unit costs, free communication

  Planned planned() const { return {&programs, step.grid}; }
};

/// Of a plan. Throws PlanError, and std::runtime_error if its programs deadlock.
RunContext context_of(const Scenario& scenario);
/// Of a run that has sent its hello, with the programs that it sent, if they have arrived. Throws std::runtime_error
/// without a hello, ScenarioError or std::invalid_argument if its data are damaged.
RunContext context_of(const StoreView& store);

/// Of a plan that did not run: the prediction with `costs` is the headline (obtained: simulated). Programs are as the
/// cluster's software runs them (as_run_on).
RunFacts facts_of_plan(const RunContext& context, const Costs& costs);
/// Report::costs of modelled_costs: "cluster 'laptop', not measured on this machine".
std::string costs_of_cluster(const ClusterSpec& cluster);
/// Of predict_costs (engine/prove/calibrate).
std::string costs_measured_on(const std::string& host, const ClusterSpec& links);
/// A recording in which nothing ran (engine/explain/facts/forecast.hpp).
bool is_forecast(const StoreView& store);

/// Of a run, or of a recorded prediction. The headline clock is the one in hello, or the wall clock if nothing was
/// emulated; the prediction is the one that the run itself sent. `steps` limits how many of the latest steps have
/// their spans.
RunFacts facts_of_run(const StoreView& store, const RunContext& context, std::size_t steps = 24);

/// The spans of a step, and those of neighbouring steps (steps_apart of the programs) that ran at the same time: a step
/// is not a barrier between lanes.
std::vector<Span> spans_around(const StoreView& store, const RunContext& context, Obtained obtained,
                               std::uint32_t step);

}  // namespace rankscope
