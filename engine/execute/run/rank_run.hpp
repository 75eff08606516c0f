// One rank: its program bound to memory, kernels and communicators, and run step after step.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "engine/execute/checkpoint/checkpoint.hpp"
#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/data/dataset.hpp"
#include "engine/execute/power/power.hpp"
#include "engine/execute/run/arena.hpp"
#include "engine/execute/run/comm_table.hpp"
#include "engine/execute/run/device.hpp"
#include "engine/execute/run/dispatch.hpp"
#include "engine/execute/run/executor.hpp"
#include "engine/execute/run/observer.hpp"
#include "engine/execute/run/stress.hpp"
#include "engine/plan/program/compile.hpp"
#include "engine/plan/program/ledger.hpp"
#include "kernels/device/host_tensor.hpp"

namespace rankscope {

/// A rank that scenario.fault killed.
struct RankKilled : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Settings that all ranks of a run share.
struct CommonSettings {
  std::int64_t start_ns = 0;           ///< monotonic_ns() at the run's start: the zero of all reported times
  StressSpec stress;                   ///< for tests
  std::string checkpoint_folder;       ///< empty: the program's checkpoint op does nothing
  StepLimit* limit = nullptr;          ///< may end the run early, with a checkpoint; null: nothing does
  const Checkpoint* resume = nullptr;  ///< weights and states are read from it instead of initialised
};

/// The settings of a rank's run. References must outlive the RankRun.
struct RankSettings : CommonSettings {
  explicit RankSettings(const StepProgram& program) : step(program) {}
  const StepProgram& step;
  World* world = nullptr;                                ///< null: communication does nothing (a rank measured alone)
  const Dataset* dataset = nullptr;                      ///< null: batches are not changed
  std::shared_ptr<const Platform> platform;              ///< computes for real, or …
  std::function<std::int64_t(const Op&)> sleep_cost_ns;  ///< … sleep
  RankObserver* observer = nullptr;
  std::shared_ptr<StepEnergy> energy;  ///< reported in its summaries; null: unknown
  /// Called at this rank's first failure, before its peers are notified.
  std::function<void(const std::string& why)> on_failure;
  /// Other ranks compute on the same device: costs of ops are measured while an op has it alone.
  bool shares_device = false;
  /// May be empty: called on the lane's thread when it has launched the op, before it launches another one; the op's
  /// results can be read with read(buffer, its lane).
  std::function<void(OpIndex op, std::uint32_t step)> watch;
  bool kill_by_signal =
      false;  ///< scenario.fault.kill_rank dies by SIGKILL (if it is a separate process) instead of by exception
};

class RankRun {
 public:
  /// Collective over all ranks of the world (it creates communicators).
  RankRun(RankSettings settings, int rank);
  ~RankRun();

  /// Runs steps first … first + count - 1, or up to the limit of the settings. Throws the first failing op's exception,
  /// after ending all ranks' waits.
  void run(std::uint32_t first, std::uint32_t count);

  const RankProgram& program() const { return program_; }
  /// A buffer's view in the device's memory; its content does not change between two calls of run().
  View view(BufferIndex buffer) const;
  /// Its content, readable by the host.
  HostTensor read(BufferIndex buffer) const;
  /// The same during a run, from that lane's thread: the content after the ops that the lane has launched.
  HostTensor read(BufferIndex buffer, Lane lane);
  /// Lets `by` change its content; call it between two calls of run().
  void change(BufferIndex buffer, const std::function<void(const View& values)>& by) const;
  /// Bytes reserved for the arena and in addition to it.
  std::int64_t reserved_bytes() const;

 private:
  struct StepRecord;
  struct GatheredLosses {
    Memory memory;
    std::int64_t count = 0;  ///< of one step
  };
  using BoundOp = std::function<OpOutcome(std::uint32_t step)>;

  BoundOp bind(OpIndex index);
  BoundOp bind_communication(const Op& op);
  BoundOp bind_load(const Op& op);
  BoundOp bind_draw(const Op& op);
  BoundOp bind_check(const Op& op);
  BoundOp bind_checkpoint(const Op& op);
  OpIndex first_arrival(std::span<const OpIndex> receives) const;
  std::unique_ptr<Dispatch> make_dispatch();
  OpOutcome launch(OpIndex index, std::uint32_t step);
  void report_memory(const Span& span, OpIndex holds, std::int64_t time_ns, const ClassBytes& alive) const;
  void record(FinishedOp done);
  void report_phase(OpId op, std::uint32_t step, const PhaseRecord& phase) const;
  /// For libraries that report the phases of a call some time after it.
  void report_late_phases();
  void report_last_phases();
  ResidentBytes resident_bytes() const;
  std::int64_t context_bytes() const;
  StepValues& values_of(std::uint32_t step) const;
  void finish(std::uint32_t step, StepRecord record);
  void inject_kill(std::uint32_t step) const;
  bool is_checkpoint_due(std::uint32_t steps_done) const;

  RankSettings settings_;
  RankProgram program_;
  std::shared_ptr<Device> compute_;  ///< the device that computes; the host itself if ops sleep
  LaneQueues queues_;
  Arena arena_;
  Memory values_;  ///< StepValues of the running steps, which the host reads
  /// For a main device, by op that gathers its replicas' losses: these losses, of the running steps.
  std::map<OpIndex, GatheredLosses> gathered_losses_;
  std::unique_ptr<ComputeDevice> device_;
  std::unique_ptr<CommTable> communicators_;
  std::vector<BoundOp> bound_;
  std::function<void(std::uint32_t steps_done)> write_checkpoint_;  ///< empty: the program has no checkpoint op
  std::vector<std::int64_t> contributed_bytes_;  ///< by op: its payload, if it communicates
  std::unique_ptr<Stress> stress_;               ///< null unless requested
  std::int64_t library_bytes_ = 0;               ///< device memory that the communicators' library (NCCL) allocated
  ResidentBytes resident_;
  int settled_steps_ = 0;  ///< steps after which resident_ was measured again
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<Dispatch> dispatch_;
  std::unique_ptr<Executor> executor_;
  Lane main_lane_ = Lane::compute;      ///< its first and last op delimit the rank's step
  OpIndex first_op_ = 0, last_op_ = 0;  ///< of the main lane
  bool has_norm_ = false, gathers_losses_ = false;
  std::uint64_t arrivals_ = 0;  ///< that an asynchronous server has received, over all runs
  double model_flops_ = 0;      ///< this rank's share of a step
  double repeated_flops_ = 0;   ///< by recomputation: HFU includes them, MFU does not

  std::mutex mutex_;
  std::map<std::uint32_t, StepRecord> steps_;  ///< the running steps: lanes may be in different ones
};

}  // namespace rankscope
