// Stress for tests: delays and poisoned memory, which do not affect a correct program but reveal an incorrect one.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/execute/run/arena.hpp"
#include "engine/execute/run/lane_queues.hpp"
#include "engine/plan/program/program.hpp"

namespace rankscope {

struct StressSpec {
  std::uint64_t seed = 0;
  /// Before each send, collective and optimizer op, a random delay up to this; 0: none.
  std::int64_t greatest_delay_ns = 0;
  /// Memory that is used within a step is filled with NaN before the run, and again as soon as all ops of the step that
  /// use it have finished: this reveals a read that is too early, too late, or through another buffer's memory.
  bool poison = false;
  bool any() const { return greatest_delay_ns > 0 || poison; }
};

class Stress {
 public:
  /// References must outlive it.
  Stress(const StressSpec& spec, const RankProgram& program, const Arena& arena, LaneQueues& queues);
  /// Before the op is launched, and after it is done or enqueued, on its lane's thread.
  void before(OpIndex op, std::uint32_t step) const;
  void after(OpIndex op);

 private:
  /// Bytes of the arena that the same ops use: a buffer, or a part of it between the borders of its views.
  struct Stretch {
    std::int64_t begin = 0, end = 0;
    int users = 0;             ///< ops of a step
    std::vector<Mark> used{};  ///< by the ops that have run in this step, if queues are not the threads' own
  };
  void poison(const Stretch& stretch, Queue& queue) const;

  const StressSpec spec_;
  const RankProgram& program_;
  const Arena& arena_;
  LaneQueues& queues_;
  std::mutex mutex_;  ///< guards Stretch::used
  std::vector<Stretch> stretches_;
  std::vector<std::vector<std::size_t>> used_;  ///< by op: its stretches
  std::unique_ptr<std::atomic<int>[]> left_;    ///< by stretch: users that have not finished in this step
};

}  // namespace rankscope
