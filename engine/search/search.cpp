#include "engine/search/search.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "engine/scenario/check.hpp"

namespace rankscope {
namespace {

double bytes_of_fullest(const FoldedStep& step, const ClusterSpec& cluster) {
  double most = 0;
  for (const StageMemory& stage : step.memory) most = std::max(most, static_cast<double>(stage.reserved()));
  return most * (1 + cluster.allocator_slack) + cluster.context_bytes;
}

/// What is known so far; shared by the threads.
class Found {
 public:
  Found(std::size_t keep, double device_bytes) : keep_(keep), device_bytes_(device_bytes) {}

  /// True where nothing that the plan can be is missed: `keep` simulated ones are faster, and one of those that are
  /// needs no more memory.
  bool beats(const PlanBound& bound) const {
    const std::lock_guard lock(mutex_);
    if (best_.size() < keep_ || best_.back().step.seconds > bound.seconds) return false;
    return std::any_of(front_.begin(), front_.end(),
                       [&](const PlanResult& r) { return r.step.seconds <= bound.seconds && r.bytes <= bound.bytes; });
  }

  void add(PlanResult result) {
    const std::lock_guard lock(mutex_);
    ++simulated_;
    if (device_bytes_ > 0 && result.bytes > device_bytes_) {
      ++out_of_memory_;
      if (!nearest_ || result.bytes < nearest_->bytes) nearest_ = std::move(result);
      return;
    }
    const auto faster = [](const PlanResult& a, const PlanResult& b) {
      return std::pair(a.step.seconds, a.bytes) < std::pair(b.step.seconds, b.bytes);
    };
    const auto dominates = [](const PlanResult& a, const PlanResult& b) {
      return a.step.seconds <= b.step.seconds && a.bytes <= b.bytes;
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
    result.out_of_memory += out_of_memory_;
    if (result.best.empty()) result.least_memory = std::move(nearest_);
  }

 private:
  mutable std::mutex mutex_;
  std::size_t keep_, simulated_ = 0, out_of_memory_ = 0;
  double device_bytes_;
  std::vector<PlanResult> best_, front_;
  std::optional<PlanResult> nearest_;
};

/// Calls work(0) to work(n - 1) on so many threads (0: as many as the machine has), each with a `work` of its own from
/// `make`. Rethrows the first exception.
template <class Make>
void on_all_threads(std::size_t n, unsigned threads, Make make) {
  std::atomic<std::size_t> next{0};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      auto work = make();
      for (std::size_t i = next++; i < n; i = next++) work(i);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      next = n;
    }
  };
  std::vector<std::thread> team;
  const unsigned wanted = threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
  for (unsigned t = 1; t < wanted; ++t) team.emplace_back(run);
  run();
  for (std::thread& thread : team) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

SearchResult search(const Scenario& scenario, std::size_t keep, unsigned threads) {
  const auto begin = std::chrono::steady_clock::now();
  if (const std::string why = why_not_folded(scenario); !why.empty())
    throw std::invalid_argument("this scenario's plans cannot be compared: " + why);
  const std::vector<PlanSpec> plans = all_plans(scenario);
  SearchResult result;
  result.ranks = scenario.plan.ranks();
  result.global_batch = scenario.train.global_batch;
  result.device_bytes = scenario.cluster.memory_bytes;
  result.plans = plans.size();

  PlanBounds bounds(scenario);
  std::vector<PlanBound> bound(plans.size());
  on_all_threads(plans.size(), threads, [&] { return [&](std::size_t i) { bound[i] = bounds.of(plans[i]); }; });
  std::vector<std::size_t> order;
  if (!bound.empty())
    result.least_bytes = std::min_element(bound.begin(), bound.end(), [](const PlanBound& a, const PlanBound& b) {
                           return a.bytes < b.bytes;
                         })->bytes;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (result.device_bytes > 0 && bound[i].bytes > result.device_bytes)
      ++result.out_of_memory;
    else
      order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return bound[a].seconds < bound[b].seconds; });

  Found found(std::max<std::size_t>(1, keep), result.device_bytes);
  on_all_threads(order.size(), threads, [&] {
    // What decides a rank's model: tensor ranks, samples of a micro-batch, sequence parallelism.
    using Models = std::map<std::tuple<int, int, bool>, Model>;
    return [&, models = Models{}, mine = scenario](std::size_t i) mutable {
      if (found.beats(bound[order[i]])) return;
      mine.plan = plans[order[i]];
      if (first_complaint(mine)) return;  // such as rows that tensor ranks cannot share
      const auto [model, made] =
          models.try_emplace({mine.plan.tensor, mine.micro_batch_size(), mine.plan.sequence_parallel});
      if (made) model->second = make_model(mine);
      PlanResult one{mine.plan, fold_step(mine, model->second), 0};
      one.bytes = bytes_of_fullest(one.step, mine.cluster);
      found.add(std::move(one));
    };
  });
  found.move_to(result);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

std::vector<LostTime> why_slower(const FoldedStep& faster, const FoldedStep& slower) {
  std::vector<LostTime> lost = {{"compute", slower.compute - faster.compute},
                                {"recompute", slower.recompute - faster.recompute},
                                {"tensor", slower.tensor - faster.tensor},
                                {"pipeline", slower.pipeline - faster.pipeline},
                                {"data", slower.data - faster.data},
                                {"zero", slower.zero - faster.zero},
                                {"optimizer", slower.optimizer - faster.optimizer},
                                {"bubble", slower.bubble - faster.bubble}};
  std::sort(lost.begin(), lost.end(), [](const LostTime& a, const LostTime& b) { return a.seconds > b.seconds; });
  return lost;
}

}  // namespace rankscope
