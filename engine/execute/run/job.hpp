// All ranks of a run: as threads of this process (loopback), or this process's one (mpi).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "engine/execute/comm/options.hpp"
#include "engine/execute/run/rank_run.hpp"
#include "engine/plan/program/compile.hpp"

namespace rankscope {

struct RunSettings : CommonSettings {
  Choice<DeviceKind> device = DeviceKind::cpu;
  std::shared_ptr<const Platform> platform;  ///< null: the platform of `device` is opened
  /// Ranks as threads with a device each, instead of a shared one; called on the rank's thread.
  std::function<std::shared_ptr<const Platform>(int rank)> platform_of;
  /// Ranks as threads that communicate over this world, which is created from their loopback world. The rank's device
  /// is already selected.
  std::function<std::unique_ptr<World>(std::unique_ptr<World> threads)> over;
  int threads_per_rank = 1;      ///< of the compute lane
  kernels::Options gpu_options;  ///< of the platforms that are opened here
  std::uint32_t first_step = 0;  ///< counted from 0; not 0 after a resumption
  std::uint32_t steps = 1;       ///< end: the first step that is not run
  /// RankSettings::watch, for every rank.
  std::function<void(int rank, OpIndex op, std::uint32_t step)> watch;
  CommOptions comm;
  std::function<std::int64_t(const RankProgram&, const Op&)> sleep_cost_ns;  ///< of the device sleep
  /// RankSettings::energy of a rank, called on its thread; empty: unknown.
  std::function<std::shared_ptr<StepEnergy>(int rank)> energy_of;
};

/// A run ended by the failure of a rank: the rank, the reason, and its last finished step.
struct RunFailure : std::runtime_error {
  RunFailure(int failed_rank, const std::string& why, bool while_communicating = false)
      : std::runtime_error(why), rank(failed_rank), in_communication(while_communicating) {}
  int rank;
  bool in_communication;  ///< the cause may be another rank
};

/// The observer of a rank; may be null. Called once per rank, from that rank's thread, before its first step.
using ObserverOf = std::function<RankObserver*(int rank)>;
/// What one rank does with its RankRun: by default, all steps at once.
using RankBody = std::function<void(RankRun& run, int rank)>;

/// These settings for ranks that are threads of this process with a GPU each, and communicate over NCCL. Throws
/// DeviceError if there are fewer GPUs than ranks.
RunSettings over_nccl(RunSettings settings, int ranks);

/// Runs every rank on its own thread and returns when all have ended. Throws RunFailure for the rank that failed first.
void run_loopback(const StepProgram& step, const RunSettings& settings, const ObserverOf& observer,
                  const RankBody& body = {});

/// Runs this process's rank of `world`. Throws RunFailure.
void run_process_rank(const StepProgram& step, const RunSettings& settings, World& world, const ObserverOf& observer,
                      const RankBody& body = {});

}  // namespace rankscope
