#include "engine/predict/search/search.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <stdexcept>
#include <tuple>

#include "engine/plan/scenario/check.hpp"
#include "engine/predict/fold/plan_folder.hpp"
#include "engine/predict/search/on_threads.hpp"

namespace rankscope {
namespace {

/// The results so far; shared by the threads.
class Found {
 public:
  explicit Found(std::size_t keep) : keep_(keep) {}

  /// True if the plan can be skipped, even if it reached its bound: `keep` simulated ones are faster, and one of the
  /// faster ones needs no more memory.
  bool beats(const PlanBound& bound) const {
    const std::lock_guard lock(mutex_);
    if (best_.size() < keep_ || best_.back().step.seconds > bound.seconds) return false;
    return std::any_of(front_.begin(), front_.end(),
                       [&](const PlanResult& r) { return r.step.seconds <= bound.seconds && r.bytes <= bound.bytes; });
  }

  void add(PlanResult result) {
    const std::lock_guard lock(mutex_);
    ++simulated_;
    const auto faster = [](const PlanResult& a, const PlanResult& b) {
      return std::tuple(a.step.seconds, a.bytes, a.number) < std::tuple(b.step.seconds, b.bytes, b.number);
    };
    const auto dominates = [&](const PlanResult& a, const PlanResult& b) {
      return a.step.seconds <= b.step.seconds && a.bytes <= b.bytes && faster(a, b);
    };
    if (std::none_of(front_.begin(), front_.end(), [&](const PlanResult& r) { return dominates(r, result); })) {
      front_.erase(
          std::remove_if(front_.begin(), front_.end(), [&](const PlanResult& r) { return dominates(result, r); }),
          front_.end());
      front_.insert(std::upper_bound(front_.begin(), front_.end(), result, faster), result);
    }
    best_.insert(std::upper_bound(best_.begin(), best_.end(), result, faster), std::move(result));
    if (best_.size() > keep_) best_.pop_back();
  }

  void move_to(SearchResult& result) {
    result.best = std::move(best_);
    result.front = std::move(front_);
    result.simulated = simulated_;
  }

 private:
  mutable std::mutex mutex_;
  std::size_t keep_, simulated_ = 0;
  std::vector<PlanResult> best_, front_;
};

/// Whether a plan is possible for the scenario: tensor ranks may be unable to divide rows, or an optimizer may need
/// whole tensors. That depends only on a rank's model, and is checked once for each.
class Possible {
 public:
  explicit Possible(const Scenario& scenario) : scenario_(scenario) {}
  bool operator()(const PlanSpec& plan) {
    scenario_.plan = plan;
    const auto [found, made] = known_.try_emplace({plan.tensor, scenario_.micro_batch_size(), plan.sequence_parallel});
    if (made) found->second = !first_complaint(scenario_);
    return found->second;
  }

 private:
  Scenario scenario_;
  std::map<std::tuple<int, int, bool>, bool> known_;
};

}  // namespace

SearchResult search(const Scenario& scenario, std::size_t keep, unsigned threads, const Progress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  if (const std::string why = why_not_folded(scenario); !why.empty())
    throw std::invalid_argument("this scenario's plans cannot be compared: " + why);
  const std::vector<PlanSpec> plans = all_plans(scenario);
  SearchResult result;
  result.ranks = scenario.plan.ranks();
  result.global_batch = scenario.train.global_batch;
  result.device_bytes = scenario.cluster.memory_bytes;
  result.plans = plans.size();

  Schedules schedules;
  // Without a value: an impossible plan.
  std::vector<std::optional<PlanBound>> bounds(plans.size());
  // Neighbouring plans share most of their work: a thread fetches this number at a time.
  constexpr std::size_t at_a_time = 64;
  const std::size_t parts = (plans.size() + at_a_time - 1) / at_a_time;
  on_all_threads(parts, threads, progress, "bounds of all plans, part", [&] {
    return [&, folder = PlanFolder(scenario, schedules), possible = Possible(scenario)](std::size_t part) mutable {
      for (std::size_t i = part * at_a_time; i < std::min(plans.size(), (part + 1) * at_a_time); ++i)
        if (possible(plans[i])) bounds[i] = folder.bound(plans[i]);
    };
  });
  std::vector<std::size_t> order;
  std::optional<std::size_t> smallest;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!bounds[i]) continue;
    if (!smallest || bounds[i]->bytes < bounds[*smallest]->bytes) smallest = i;
    if (result.device_bytes > 0 && bounds[i]->bytes > result.device_bytes)
      ++result.out_of_memory;
    else
      order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return bounds[a]->seconds < bounds[b]->seconds; });

  Found found(std::max<std::size_t>(1, keep));
  on_all_threads(order.size(), threads, progress, "simulating plan", [&] {
    return [&, folder = PlanFolder(scenario, schedules)](std::size_t i) mutable {
      const PlanSpec& plan = plans[order[i]];
      const PlanBound& bound = *bounds[order[i]];
      if (!found.beats(bound)) found.add({plan, folder.fold(plan), bound.bytes, order[i]});
    };
  });
  found.move_to(result);
  if (order.empty() && smallest)
    result.nearest = {plans[*smallest], PlanFolder(scenario, schedules).fold(plans[*smallest]),
                      bounds[*smallest]->bytes, *smallest};
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

std::vector<PlanSpec> possible_plans(const Scenario& scenario) {
  std::vector<PlanSpec> plans = all_plans(scenario);
  std::erase_if(plans, [possible = Possible(scenario)](const PlanSpec& plan) mutable { return !possible(plan); });
  return plans;
}

StepParts parts_of(const FoldedStep& step) {
  return {
      step.compute, step.recompute, step.tensor, step.pipeline, step.data, step.zero, step.optimizer, step.bubble, 0};
}

std::vector<LostTime> why_slower(const StepParts& faster, const StepParts& slower) {
  std::vector<LostTime> lost;
  for (std::size_t i = 0; i < slower.size(); ++i) lost.push_back({static_cast<TimeClass>(i), slower[i] - faster[i]});
  std::ranges::stable_sort(lost, [](const LostTime& a, const LostTime& b) { return a.seconds > b.seconds; });
  return lost;
}

std::vector<LostTime> why_slower(const FoldedStep& faster, const FoldedStep& slower) {
  std::vector<LostTime> lost = why_slower(parts_of(faster), parts_of(slower));
  std::erase_if(lost, [](const LostTime& one) { return one.part == TimeClass::other; });  // a folded step has none
  return lost;
}

}  // namespace rankscope
