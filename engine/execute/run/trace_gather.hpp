// Sends the costs of each step on other processes' ranks to rank 0, which computes the device clock for all.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/run/observer.hpp"

namespace rankscope {

class TraceGather {
 public:
  using Deliver = std::function<void(int rank, std::uint32_t step, const StepTrace& trace)>;

  /// One on every rank, for a run of `steps` steps. `deliver` gets every rank's traces, step by step, on rank 0 only,
  /// from the gather's own thread.
  TraceGather(World& world, std::uint32_t steps, Deliver deliver);
  /// Waits until all steps are gathered; a failed run has ended that wait by World::abort, or ends it by leave().
  ~TraceGather();

  /// Adds this rank's trace of a step; any thread, steps in order.
  void step_done(std::uint32_t step, const StepTrace& trace);
  /// This rank sends no further steps.
  void leave();

 private:
  void work();

  World& world_;
  const std::uint32_t steps_;
  std::optional<std::uint32_t> first_;  ///< the step that was reported first
  const Deliver deliver_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::string> waiting_;
  bool left_ = false;
  std::thread thread_;
};

}  // namespace rankscope
