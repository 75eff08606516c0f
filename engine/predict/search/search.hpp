// Finds the best plan for a model on a number of devices: for every plan its memory and a bound of its time, and if
// it may still be the best, its folded step.
//
// A plan is dropped without a simulation only if a simulated one is at least as fast as its bound and needs no more
// memory, so that the best plans and the Pareto front are those of all plans.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/progress/progress.hpp"
#include "engine/op/time_class.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "engine/predict/fold/folded.hpp"

namespace rankscope {

/// All plans of the scenario's number of ranks for its model and global batch: data × tensor (up to a node) × pipeline,
/// virtual stages, schedule, layers laid out evenly or by cost, micro-batches, ZeRO 0 to 3, recomputation (none,
/// selective, of blocks in groups of every size that makes a difference), sequence parallelism. All other values
/// are the scenario's. Throws std::invalid_argument for a single collective, which has no plans.
std::vector<PlanSpec> all_plans(const Scenario& scenario);

/// Those that are possible for the scenario: tensor ranks may be unable to divide rows, or an optimizer may need
/// whole tensors.
std::vector<PlanSpec> possible_plans(const Scenario& scenario);

struct PlanResult {
  PlanSpec plan;
  FoldedStep step;
  double bytes = 0;        ///< of the device that needs the most memory, with context and slack
  std::size_t number = 0;  ///< among all plans: of two equal ones the first is preferred
};

struct SearchResult {
  int ranks = 0, global_batch = 0;
  double device_bytes = 0;
  std::size_t plans = 0, simulated = 0;
  std::size_t out_of_memory = 0;      ///< of all plans
  std::vector<PlanResult> best;       ///< by time
  std::vector<PlanResult> front;      ///< by time: each needs less memory than all faster ones
  std::optional<PlanResult> nearest;  ///< if nothing fits: the plan that needs the least memory
  double seconds = 0;                 ///< duration of the search
};

/// On `threads` threads (0: as many as the machine has); `keep` best ones. Throws std::invalid_argument if the
/// scenario's cluster does not fold (why_not_folded) or lacks a figure.
SearchResult search(const Scenario& scenario, std::size_t keep = 10, unsigned threads = 0,
                    const Progress& progress = {});

/// Where the slower of two plans loses time: parts of the step, greatest first, in seconds more than the faster one's.
struct LostTime {
  TimeClass part = TimeClass::other;
  double seconds = 0;
};
std::vector<LostTime> why_slower(const FoldedStep& faster, const FoldedStep& slower);

StepParts parts_of(const FoldedStep& step);
std::vector<LostTime> why_slower(const StepParts& faster, const StepParts& slower);

nlohmann::json to_json(const SearchResult& result);
std::string to_text(const SearchResult& result);

/// The keys that a search sets, in the form of `--set`: "data=16", "tensor=8", …
std::vector<std::string> settings_of(const PlanSpec& plan);

/// "t8 p8 d16 v3 interleaved m96 b1 zero1 selective sp".
std::string short_name(const PlanSpec& plan, int global_batch);

}  // namespace rankscope
