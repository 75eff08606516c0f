#include "engine/execute/run/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "engine/base/host/threads.hpp"

namespace rankscope {

Executor::Executor(const RankProgram& program, OpRunner run, FirstArrival first_arrival)
    : program_(program),
      run_(std::move(run)),
      first_arrival_(std::move(first_arrival)),
      lanes_(program.lanes()),
      place_(program.ops.size()) {
  for (std::size_t lane = 0; lane < lane_count; ++lane)
    for (std::size_t i = 0; i < lanes_[lane].size(); ++i) place_[lanes_[lane][i]] = {lane, i};
}

bool Executor::wait_for(std::size_t lane, OpIndex op, std::uint64_t steps_before) {
  const Place at = place_[op];
  const std::uint64_t needed = steps_before * lanes_[at.lane].size() + at.position + 1;
  std::unique_lock lock(mutex_);
  Wait& wait = waits_[lane];
  // Has no time limit: the awaited op computes, or waits for peers with the communicator's time limit, and a failure
  // there ends this wait.
  while (finished_[at.lane] < needed && !failure_) {
    wait.lane = at.lane;
    wait.needed = needed;
    wait.over.wait(lock);
  }
  wait.needed = 0;
  return !failure_;
}

void Executor::finish(std::size_t lane) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t finished = ++finished_[lane];
  for (Wait& wait : waits_)
    if (wait.needed != 0 && wait.lane == lane && wait.needed <= finished) {
      wait.needed = 0;  // woken once
      wait.over.notify_one();
    }
}

bool Executor::fail(std::exception_ptr why) {
  const std::lock_guard lock(mutex_);
  if (failure_) return false;
  failure_ = std::move(why);
  for (Wait& wait : waits_) wait.over.notify_one();
  return true;
}

void Executor::run_lane(std::size_t lane, std::uint32_t first, std::uint32_t count, StepLimit* limit) {
  for (std::uint32_t s = 0; s < count && (!limit || limit->begins(first + s)); ++s)
    for (const OpIndex index : lanes_[lane]) {
      const Op& op = program_.ops[index];
      for (const OpIndex before : op.after)
        if (!wait_for(lane, before, s)) return;
      if (s > 0)
        for (const OpIndex before : op.after_previous)
          if (!wait_for(lane, before, s - 1)) return;
      if (op.after.empty() && (s == 0 || op.after_previous.empty()) && has_failed()) return;
      run_(index, first + s);
      finish(lane);
    }
}

// All of the program's ops are on this lane, so no other lane waits for it, and only the order matters.
void Executor::run_in_order_of_arrival(std::size_t lane, std::uint32_t first, std::uint32_t count) {
  struct Contribution {
    std::vector<OpIndex> ops;  ///< the first one receives
    std::uint32_t step = 0;    ///< its next step
  };
  std::vector<Contribution> contributions;
  int worker = -1;
  for (const OpIndex op : lanes_[lane]) {
    const int of = program_.ops[op].id.fields().micro_batch;
    if (contributions.empty() || of != worker) contributions.emplace_back();
    contributions.back().ops.push_back(op);
    worker = of;
  }
  const auto ahead = static_cast<std::uint32_t>(*program_.arrivals_ahead);
  std::vector<OpIndex> open;
  for (;;) {
    std::uint32_t oldest = count;
    for (const Contribution& c : contributions) oldest = std::min(oldest, c.step);
    if (oldest == count) return;
    open.clear();
    for (const Contribution& c : contributions)
      if (c.step < count && c.step - oldest <= ahead) open.push_back(c.ops.front());
    const OpIndex arrived = first_arrival_(open);
    const auto chosen = std::find_if(contributions.begin(), contributions.end(),
                                     [arrived](const Contribution& c) { return c.ops.front() == arrived; });
    for (const OpIndex op : chosen->ops) {
      if (has_failed()) return;
      run_(op, first + chosen->step);
    }
    ++chosen->step;
  }
}

bool Executor::has_failed() {
  const std::lock_guard lock(mutex_);
  return failure_ != nullptr;
}

void Executor::run(std::uint32_t first, std::uint32_t count, const std::function<void(const std::string&)>& on_failure,
                   StepLimit* limit) {
  finished_.fill(0);
  failure_ = nullptr;
  {
    const auto on_its_thread = [this, first, count, &on_failure, limit](std::size_t lane) {
      try {
        if (program_.arrivals_ahead)
          run_in_order_of_arrival(lane, first, count);
        else
          run_lane(lane, first, count, limit);
      } catch (const std::exception& e) {
        if (fail(std::current_exception())) on_failure(e.what());
      }
    };
    std::vector<std::jthread> threads;
    threads.reserve(lane_count);
    try {
      for (std::size_t lane = 0; lane < lane_count; ++lane)
        if (!lanes_[lane].empty())
          threads.push_back(start_thread<std::jthread>(
              fmt::format("lane {} of rank {}", name_of(static_cast<Lane>(lane)), program_.rank),
              [&on_its_thread, lane] { on_its_thread(lane); }));
    } catch (const std::exception& e) {
      // A thread could not be started: lanes that already run, here and on other ranks, would wait for it for ever.
      if (fail(std::current_exception())) on_failure(e.what());
    }
  }
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace rankscope
