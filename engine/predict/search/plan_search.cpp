#include "engine/predict/search/plan_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>
#include <tuple>

#include "engine/op/word_list.hpp"
#include "engine/predict/fold/plan_folder.hpp"
#include "engine/predict/search/on_threads.hpp"
#include "engine/predict/search/plan_space.hpp"
#include "engine/predict/strategy/front.hpp"
#include "engine/predict/strategy/importance.hpp"

namespace rankscope {
namespace {

constexpr std::size_t most_points = 1500;          ///< reported individually
constexpr int time_cells = 96, memory_cells = 64;  ///< of the grid by which more points are thinned

/// A plan that was tried, in the order of the tries.
struct Tried {
  std::size_t number = 0;
  Judgement judged;
};

double logarithm(double value) { return std::log(std::max(value, 1e-30)); }

/// The cell in a grid over all plans with a time, logarithmic in both.
class Grid {
 public:
  explicit Grid(const std::vector<Tried>& tried) {
    for (const Tried& one : tried)
      if (std::isfinite(one.judged.seconds)) {
        time_.take(logarithm(one.judged.seconds));
        memory_.take(logarithm(one.judged.bytes));
      }
  }
  std::tuple<Fate, int, int> cell_of(const Judgement& judged) const {
    return {judged.fate, time_.cell(logarithm(judged.seconds), time_cells),
            memory_.cell(logarithm(judged.bytes), memory_cells)};
  }

 private:
  struct Side {
    double low = 1e300, high = -1e300;
    void take(double value) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
    int cell(double value, int cells) const {
      return high > low ? std::min(cells - 1, static_cast<int>((value - low) / (high - low) * cells)) : 0;
    }
  };
  Side time_, memory_;
};

/// Fills `points`, and returns the point of each of `selected` (indices of `tried`).
std::map<std::size_t, std::size_t> report_points(const std::vector<Tried>& tried, const Space& space,
                                                 const std::vector<std::size_t>& selected, PlanSearchReport& report) {
  std::map<std::size_t, std::size_t> point_of;  // tried → points
  const auto add = [&](std::size_t i) {
    const auto [at, made] = point_of.try_emplace(i, report.points.size());
    if (!made) return at->second;
    const Judgement& judged = tried[i].judged;
    const auto values = space.at(tried[i].number);
    report.points.push_back(
        {tried[i].number, judged.fate, judged.seconds, judged.bytes, judged.parts, {values.begin(), values.end()}, 1});
    return at->second;
  };
  for (const std::size_t i : selected) add(i);
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < tried.size(); ++i)
    if (std::isfinite(tried[i].judged.seconds) && !point_of.contains(i)) others.push_back(i);
  if (others.size() <= most_points) {
    for (const std::size_t i : others) add(i);
    return point_of;
  }
  const Grid grid(tried);
  std::stable_sort(others.begin(), others.end(),
                   [&](std::size_t a, std::size_t b) { return tried[a].judged.seconds < tried[b].judged.seconds; });
  std::map<std::tuple<Fate, int, int>, std::size_t> point_of_cell;
  for (const std::size_t i : others) {
    const auto [at, made] = point_of_cell.try_emplace(grid.cell_of(tried[i].judged), 0);
    if (made)
      at->second = add(i);
    else
      ++report.points[at->second].together;
  }
  return point_of;
}

bool fits(const Tried& one) { return one.judged.fate == Fate::fits; }

std::vector<Tried> try_all(const PlanTrials& trials, unsigned threads, const Progress& progress) {
  std::vector<Tried> tried(trials.plans.size());
  on_all_threads(tried.size(), threads, progress, "plan", [&] {
    return [&, judge = trials.make_judge()](std::size_t i) { tried[i] = {i, judge(trials.plans[i])}; };
  });
  return tried;
}

std::vector<Tried> try_some(const PlanTrials& trials, const Space& space, const PlanSearch& how,
                            const Progress& progress) {
  std::vector<Tried> tried;
  const std::size_t budget = std::min(how.how.budget, trials.plans.size());
  const Judge judge = trials.make_judge();
  explore(space, how.strategy, how.how, [&](std::size_t i) -> std::optional<double> {
    if (progress)
      progress(fmt::format("plan {} of {}", tried.size() + 1, budget),
               static_cast<double>(tried.size()) / static_cast<double>(budget));
    tried.push_back({i, judge(trials.plans[i])});
    if (!fits(tried.back())) return std::nullopt;
    return tried.back().judged.seconds;
  });
  return tried;
}

void judge_importance(const std::vector<Tried>& tried, const Space& space, const PlanSearch& how,
                      PlanSearchReport& report) {
  std::vector<Known> known;
  for (const Tried& one : tried)
    if (fits(one)) known.push_back({one.number, logarithm(one.judged.seconds)});
  if (known.size() < 2) return;
  report.importance_is_exact = tried.size() == space.size();
  report.importance =
      report.importance_is_exact ? first_order_indices(space, known) : guessed_indices(space, known, how.how.seed);
}

}  // namespace

constexpr auto fate_names = word_list("fits", "out of memory", "refused");
static_assert(fate_names.size() == static_cast<int>(Fate::refused) + 1);
std::string_view name_of(Fate fate) { return word_at(fate_names, fate); }

PlanTrials folded_trials(const Scenario& scenario) {
  if (const std::string why = why_not_folded(scenario); !why.empty())
    throw std::invalid_argument("this scenario's plans cannot be folded: " + why);
  PlanTrials trials{scenario, possible_plans(scenario), {}, "folded by symmetry"};
  trials.make_judge = [scenario, schedules = std::make_shared<Schedules>()]() -> Judge {
    return [folder = std::make_shared<PlanFolder>(scenario, *schedules), schedules,
            memory = scenario.cluster.memory_bytes](const PlanSpec& plan) {
      Judgement judged;
      const PlanBound bound = folder->bound(plan);
      judged.bytes = bound.bytes;
      judged.seconds = bound.seconds;
      judged.fate = memory > 0 && bound.bytes > memory ? Fate::out_of_memory : Fate::fits;
      if (judged.fate == Fate::out_of_memory) return judged;
      const FoldedStep step = folder->fold(plan);
      judged.seconds = step.seconds;
      judged.parts = parts_of(step);
      return judged;
    };
  };
  return trials;
}

PlanSearchReport search_plans(const PlanTrials& trials, const PlanSearch& how, const Progress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  const Space space = plan_space(trials.plans);
  PlanSearchReport report;
  report.strategy = how.strategy;
  report.judged = trials.judged;
  report.seed = how.how.seed;
  report.ranks = trials.scenario.plan.ranks();
  report.global_batch = trials.scenario.train.global_batch;
  report.device_bytes = trials.scenario.cluster.memory_bytes;
  report.plans = trials.plans.size();
  report.knobs = space.knobs();
  const std::vector<Tried> tried = how.strategy == Strategy::exhaustive ? try_all(trials, how.threads, progress)
                                                                        : try_some(trials, space, how, progress);
  report.tried = tried.size();

  std::vector<std::size_t> by_time, selected;
  std::vector<TwoCosts> costs;
  std::vector<std::pair<std::size_t, std::size_t>> better;  // number of tries until then, and the plan
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < tried.size(); ++i) {
    report.out_of_memory += tried[i].judged.fate == Fate::out_of_memory;
    report.refused += tried[i].judged.fate == Fate::refused;
    if (!fits(tried[i])) continue;
    by_time.push_back(i);
    costs.push_back({tried[i].judged.seconds, tried[i].judged.bytes});
    if (tried[i].judged.seconds >= best) continue;
    best = tried[i].judged.seconds;
    better.emplace_back(i + 1, i);
  }
  std::vector<std::size_t> front;
  for (const std::size_t at : pareto_front(costs)) front.push_back(by_time[at]);
  const auto rank = [&](std::size_t i) {
    return std::tuple(tried[i].judged.seconds, tried[i].judged.bytes, tried[i].number);
  };
  std::sort(by_time.begin(), by_time.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  by_time.resize(std::min(by_time.size(), std::max<std::size_t>(1, how.keep)));
  selected = by_time;
  selected.insert(selected.end(), front.begin(), front.end());
  for (const auto& [count, i] : better) selected.push_back(i);
  const auto point_of = report_points(tried, space, selected, report);
  for (const std::size_t i : by_time) report.best.push_back(point_of.at(i));
  for (const std::size_t i : front) report.front.push_back(point_of.at(i));
  for (const auto& [count, i] : better) report.trajectory.push_back({count, point_of.at(i)});
  judge_importance(tried, space, how, report);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace rankscope
