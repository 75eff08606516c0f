// Tries plans one after another by a strategy (engine/predict/strategy), as on a real machine: a plan that runs
// out of memory is a failure, which uses up a try and gives no time.
//
// search.hpp's own search finds the best plans and the front without trying them all; here the progress matters: how
// good the best is after each number of tries, what failed, and which knobs matter.
#pragma once

#include "engine/op/not_known.hpp"
#include "engine/predict/search/search.hpp"
#include "engine/predict/strategy/explore.hpp"

namespace rankscope {

enum class Fate : std::uint8_t { fits, out_of_memory, refused };
std::string_view name_of(Fate fate);

/// The result of trying a plan.
struct Judgement {
  Fate fate = Fate::refused;
  /// Of a step; of a plan out of memory the least time of its step, NaN if unknown.
  double seconds = not_known;
  double bytes = not_known;  ///< of the device that needs the most memory
  StepParts parts{};         ///< of the step; zero for one that does not fit
};
using Judge = std::function<Judgement(const PlanSpec&)>;

/// The plans of a scenario, and the functions that try them.
struct PlanTrials {
  Scenario scenario;
  std::vector<PlanSpec> plans;
  std::function<Judge()> make_judge;  ///< one for each thread
  std::string judged;                 ///< how: "folded by symmetry", …
};
/// Folds plans; for one out of memory only the bound. Throws std::invalid_argument if that is impossible
/// (why_not_folded). For others: laid_out_trials of engine/explain/facts.
PlanTrials folded_trials(const Scenario& scenario);

/// A plan in a report: one that was tried, and how many others have nearly the same time and memory.
struct PlanPoint {
  std::size_t number = 0;  ///< of the plan among all plans
  Fate fate = Fate::fits;
  double seconds = 0, bytes = 0;
  StepParts parts{};
  std::vector<int> values;   ///< [knob]
  std::size_t together = 1;  ///< plans that this point represents
};

/// After this number of tries the best plan changed.
struct Improvement {
  std::size_t tried = 0;
  std::size_t point = 0;  ///< index of the report's points
};

struct PlanSearchReport {
  Strategy strategy = Strategy::exhaustive;
  std::string judged;
  std::uint64_t seed = 0;
  int ranks = 0, global_batch = 0;
  double device_bytes = 0;
  std::size_t plans = 0, tried = 0, out_of_memory = 0, refused = 0;
  std::vector<Knob> knobs;
  /// [knob] importance.hpp's first-order index of the logarithm of a step's time over the plans that fit; empty if
  /// fewer than two do.
  std::vector<double> importance;
  bool importance_is_exact = false;  ///< of all plans that fit; else of all plans, estimated by a forest
  /// Tried plans with a time. Of thousands, one for each cell of a grid over time and memory, the fastest; those of the
  /// lists below are all included.
  std::vector<PlanPoint> points;
  std::vector<std::size_t> best, front;  ///< of points, by time
  std::vector<Improvement> trajectory;
  double seconds = 0;  ///< duration of the search
};

struct PlanSearch {
  Strategy strategy = Strategy::exhaustive;
  Exploration how;
  std::size_t keep = 10;  ///< of the best
  unsigned threads = 0;   ///< of the exhaustive search; 0: as many as the machine has
};

PlanSearchReport search_plans(const PlanTrials& trials, const PlanSearch& how, const Progress& progress = {});

nlohmann::json to_json(const PlanSearchReport& report);
std::string to_text(const PlanSearchReport& report);

}  // namespace rankscope
