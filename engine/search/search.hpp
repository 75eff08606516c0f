// The best plan for a model on so many devices: every plan is looked at, by a bound or by its folded step.
//
// A plan is given up without a simulation only where a simulated one is at least as fast as its bound and needs no more
// memory than it must, so that the best plans and the Pareto front are those of all plans.
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/scenario/scenario.hpp"
#include "engine/simulate/folded.hpp"

namespace rankscope {

/// All plans of the scenario's number of ranks for its model and global batch: data × tensor (up to a node) × pipeline,
/// virtual stages, schedule, layers laid out evenly or by cost, micro-batches, ZeRO 0 to 3, recomputation (none,
/// selective, of blocks in groups of every size that makes a difference), sequence parallelism. Of the scenario's plan
/// they keep everything else.
std::vector<PlanSpec> all_plans(const Scenario& scenario);

/// Seconds that a plan's step takes at least, and bytes that its fullest device holds at least.
struct PlanBound {
  double seconds = 0, bytes = 0;
};

/// Closed forms over one block's seconds, each computed once: of the stage for which it is most, its own work, its wait
/// for the first micro-batch to come and for the last one to go back; and the update. The states of the stage with most
/// blocks, or those of the first one with the activations that the schedule has in flight there.
class PlanBounds {
 public:
  explicit PlanBounds(const Scenario& scenario);
  ~PlanBounds();
  PlanBound of(const PlanSpec& plan);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct PlanResult {
  PlanSpec plan;
  FoldedStep step;
  double bytes = 0;  ///< of the fullest device, with context and slack
};

struct SearchResult {
  int ranks = 0, global_batch = 0;
  double device_bytes = 0;
  double least_bytes = 0;  ///< that any plan needs at least, by its bound
  std::size_t plans = 0, simulated = 0;
  std::size_t out_of_memory = 0;           ///< that the states alone, or the simulated peak, do not fit
  std::vector<PlanResult> best;            ///< by time
  std::vector<PlanResult> front;           ///< by time: each needs less memory than all faster ones
  std::optional<PlanResult> least_memory;  ///< where nothing fits: the plan that comes nearest, of those simulated
  double seconds = 0;                      ///< that the search took
};

/// On `threads` threads (0: as many as the machine has); `keep` best ones. Throws std::invalid_argument when the
/// scenario's cluster does not fold (why_not_folded) or lacks a figure.
SearchResult search(const Scenario& scenario, std::size_t keep = 10, unsigned threads = 0);

/// Of two plans, where the slower one's time goes: parts of the step, most first, seconds more than the faster one's.
struct LostTime {
  std::string part;
  double seconds = 0;
};
std::vector<LostTime> why_slower(const FoldedStep& faster, const FoldedStep& slower);

nlohmann::json to_json(const SearchResult& result);
std::string to_text(const SearchResult& result);

/// The keys that a search sets, as `--set` takes them: "data=16", "tensor=8", …
std::vector<std::string> settings_of(const PlanSpec& plan);

/// "t8 p8 d16 v3 interleaved m96 b1 zero1 selective sp".
std::string short_name(const PlanSpec& plan, int global_batch);

}  // namespace rankscope
