// One rank: its program bound to memory, kernels and communicators, and run step after step.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "engine/checkpoint/checkpoint.hpp"
#include "engine/comm/communicator.hpp"
#include "engine/data/dataset.hpp"
#include "engine/program/compile.hpp"
#include "engine/run/arena.hpp"
#include "engine/run/comm_table.hpp"
#include "engine/run/device.hpp"
#include "engine/run/executor.hpp"
#include "engine/run/ledger.hpp"
#include "engine/run/observer.hpp"
#include "engine/run/stress.hpp"

namespace rankscope {

/// A rank that was told to die by scenario.fault.
struct RankKilled : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a rank runs with. References must outlive the RankRun.
struct RankSettings {
  explicit RankSettings(const StepProgram& program) : step(program) {}
  const StepProgram& step;
  World* world = nullptr;                                ///< null: communication does nothing (a rank measured alone)
  const Dataset* dataset = nullptr;                      ///< null: batches are left as they are
  const kernels::KernelSet* kernels = nullptr;           ///< compute for real, or …
  std::function<std::int64_t(const Op&)> sleep_cost_ns;  ///< … sleep
  RankObserver* observer = nullptr;
  std::int64_t start_ns = 0;  ///< monotonic_ns() at the run's start: the zero of all reported times
  /// Called at this rank's first failure, before its peers hear of it.
  std::function<void(const std::string& why)> on_failure;
  StressSpec stress;                   ///< for tests
  std::string checkpoint_folder;       ///< empty: the program's checkpoint op does nothing
  const Checkpoint* resume = nullptr;  ///< weights and states are its instead of initial ones
  bool kill_by_signal =
      false;  ///< scenario.fault.kill_rank dies by SIGKILL (a process of its own) instead of by exception
};

class RankRun {
 public:
  /// Collective over all ranks of the world (it makes communicators).
  RankRun(RankSettings settings, int rank);
  ~RankRun();

  /// Runs steps first … first + count - 1. Throws what the first failing op threw, after ending all ranks' waits.
  void run(std::uint32_t first, std::uint32_t count);

  const RankProgram& program() const { return program_; }
  /// A buffer's place; its content is settled between two calls of run().
  View view(BufferIndex buffer) const;
  /// Bytes reserved for the arena and beside it.
  std::int64_t reserved_bytes() const;

 private:
  struct StepRecord;
  using BoundOp = std::function<OpOutcome(std::uint32_t step)>;

  BoundOp bind(OpIndex index);
  BoundOp bind_communication(const Op& op);
  BoundOp bind_load(const Op& op);
  BoundOp bind_checkpoint(const Op& op);
  OpIndex first_to_come(std::span<const OpIndex> receives) const;
  OpOutcome run_op(OpIndex index, std::uint32_t step);
  void record(OpIndex index, const Span& span, const OpOutcome& outcome);
  void finish(std::uint32_t step, StepRecord record);
  void die_if_told(std::uint32_t step) const;

  RankSettings settings_;
  RankProgram program_;
  Arena arena_;
  StepValues values_;
  std::unique_ptr<ComputeDevice> device_;
  std::unique_ptr<CommTable> communicators_;
  std::vector<BoundOp> bound_;
  std::vector<std::int64_t> contributed_bytes_;  ///< by op: its payload, if it communicates
  std::unique_ptr<Stress> stress_;               ///< null unless asked for
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<Executor> executor_;
  Lane main_lane_ = Lane::compute;      ///< whose first and last op are the rank's step
  OpIndex first_op_ = 0, last_op_ = 0;  ///< of the main lane
  bool has_norm_ = false, gathers_losses_ = false;
  std::uint64_t arrivals_ = 0;  ///< that an asynchronous server has received, over all runs
  double model_flops_ = 0;      ///< this rank's share of a step
  double repeated_flops_ = 0;   ///< by recomputation: HFU counts them, MFU does not

  std::mutex mutex_;
  std::map<std::uint32_t, StepRecord> steps_;  ///< those under way: lanes may be in different ones
};

}  // namespace rankscope
