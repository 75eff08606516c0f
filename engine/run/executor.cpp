#include "engine/run/executor.hpp"

#include <exception>

namespace rankscope {

Executor::Executor(const RankProgram& program, OpRunner run)
    : program_(program), run_(std::move(run)), lanes_(program.lanes()), place_(program.ops.size()) {
  for (std::size_t lane = 0; lane < lane_count; ++lane)
    for (std::size_t i = 0; i < lanes_[lane].size(); ++i) place_[lanes_[lane][i]] = {lane, i};
}

bool Executor::wait_for(OpIndex op, std::uint64_t steps_before) {
  const Place at = place_[op];
  const std::uint64_t needed = steps_before * lanes_[at.lane].size() + at.position + 1;
  std::unique_lock lock(mutex_);
  // No limit of its own: what it waits for computes, or waits for peers under the communicator's limit, whose failure
  // wakes this.
  progress_.wait(lock, [&] { return finished_[at.lane] >= needed || failure_; });
  return !failure_;
}

void Executor::run_lane(std::size_t lane, std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t s = 0; s < count; ++s)
    for (const OpIndex index : lanes_[lane]) {
      const Op& op = program_.ops[index];
      for (const OpIndex before : op.after)
        if (!wait_for(before, s)) return;
      if (s > 0)
        for (const OpIndex before : op.after_previous)
          if (!wait_for(before, s - 1)) return;
      if (op.after.empty() && (s == 0 || op.after_previous.empty())) {
        const std::lock_guard lock(mutex_);
        if (failure_) return;
      }
      run_(index, first + s);
      {
        const std::lock_guard lock(mutex_);
        ++finished_[lane];
      }
      progress_.notify_all();
    }
}

void Executor::run(std::uint32_t first, std::uint32_t count,
                   const std::function<void(const std::string&)>& on_failure) {
  finished_.fill(0);
  failure_ = nullptr;
  {
    std::vector<std::jthread> threads;
    for (std::size_t lane = 0; lane < lane_count; ++lane)
      if (!lanes_[lane].empty())
        threads.emplace_back([this, lane, first, count, &on_failure] {
          try {
            run_lane(lane, first, count);
          } catch (const std::exception& e) {
            bool is_first = false;
            {
              const std::lock_guard lock(mutex_);
              is_first = !failure_;
              if (is_first) failure_ = std::current_exception();
            }
            progress_.notify_all();
            if (is_first) on_failure(e.what());
          }
        });
  }
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace rankscope
