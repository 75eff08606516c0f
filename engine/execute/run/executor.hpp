// The executor: a small loop per lane. It has no schedule, micro-batches or parallelism; all of these are in the
// program.
#pragma once
#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/execute/run/step_limit.hpp"
#include "engine/plan/program/program.hpp"

namespace rankscope {

/// Runs one op of a program for one step on the calling thread, or enqueues it from there in its lane's order: then the
/// queues order the later ops.
using OpRunner = std::function<void(OpIndex op, std::uint32_t step)>;

/// Waits until one of a parameter server's open receives (at least one) can run, and returns it.
using FirstArrival = std::function<OpIndex(std::span<const OpIndex> receives)>;

/// Runs the lanes of one rank's program, each on its own thread, for steps first … first + count - 1. A step is not a
/// barrier: a lane continues with the next step's ops as soon as their dependencies allow.
class Executor {
 public:
  /// `run` is called from the lanes' threads, for each op after all ops that it depends on; `first_arrival` from the
  /// lane of a program with arrivals_ahead.
  Executor(const RankProgram& program, OpRunner run, FirstArrival first_arrival = {});

  /// Returns when all lanes have run all steps, or those before `limit` ended the run (null: none does). If an op
  /// throws, no lane begins another op, `on_failure` (which must end the waits of running ops) is called once, and the
  /// first exception is rethrown.
  void run(std::uint32_t first, std::uint32_t count, const std::function<void(const std::string& why)>& on_failure,
           StepLimit* limit = nullptr);

 private:
  void run_lane(std::size_t lane, std::uint32_t first, std::uint32_t count, StepLimit* limit);
  void run_in_order_of_arrival(std::size_t lane, std::uint32_t first, std::uint32_t count);
  bool has_failed();
  /// False if the run has failed.
  bool wait_for(std::size_t lane, OpIndex op, std::uint64_t steps_before);

  struct Place {
    std::size_t lane = 0;
    std::uint64_t position = 0;  ///< within the lane, from 0
  };

  const RankProgram& program_;
  OpRunner run_;
  FirstArrival first_arrival_;
  std::array<std::vector<OpIndex>, lane_count> lanes_;
  std::vector<Place> place_;  ///< by op

  /// What a lane waits for: another lane must have finished this number of ops. Each lane sleeps on its own condition,
  /// so that finishing an op wakes only a lane that can continue: waking all of them costs the compute lane about 15 us
  /// per op on few cores.
  struct Wait {
    std::size_t lane = 0;
    std::uint64_t needed = 0;  ///< 0: it does not wait
    std::condition_variable over;
  };
  void finish(std::size_t lane);
  /// Ends all waits; false if the run had already failed.
  bool fail(std::exception_ptr why);

  std::mutex mutex_;
  std::array<Wait, lane_count> waits_;
  std::array<std::uint64_t, lane_count> finished_{};  ///< ops that each lane has finished in this run()
  std::exception_ptr failure_;
};

}  // namespace rankscope
