#include "engine/execute/run/job.hpp"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/base/host/threads.hpp"
#include "engine/execute/comm/loopback.hpp"
#include "engine/execute/comm/nccl.hpp"

namespace rankscope {
namespace {

std::unique_ptr<Dataset> dataset_of(const StepProgram& step, const RunSettings& settings) {
  return !computes(settings.device) ? nullptr : open_dataset(step.scenario);
}

/// Null: ops sleep.
std::shared_ptr<const Platform> platform_of(const RunSettings& settings) {
  if (!computes(settings.device) || settings.platform) return settings.platform;
  return open_platform(settings.device, settings.threads_per_rank, 0, settings.gpu_options);
}

/// The state of a rank besides its settings.
struct Place {
  World& world;
  const Dataset* dataset;
  std::shared_ptr<const Platform> platform;
  bool own_process = false, shares_device = false;
};

void run_rank(const StepProgram& step, const RunSettings& settings, const Place& place, const ObserverOf& observer,
              const RankBody& body, std::function<void(const std::string&)> on_failure) {
  const int number = place.world.rank();
  RankSettings rank(step);
  static_cast<CommonSettings&>(rank) = settings;
  rank.world = &place.world;
  rank.dataset = place.dataset;
  rank.platform = place.platform;
  rank.shares_device = place.shares_device;
  rank.observer = observer ? observer(number) : nullptr;
  if (settings.energy_of) rank.energy = settings.energy_of(number);
  if (settings.watch)
    rank.watch = [&settings, number](OpIndex op, std::uint32_t at) { settings.watch(number, op, at); };
  rank.kill_by_signal = place.own_process;
  rank.on_failure = std::move(on_failure);
  if (!place.platform) {
    // Costs are requested while binding; the ops of this program are those of the RankRun's own copy.
    const auto program = std::make_shared<RankProgram>(step.program_for(number));
    rank.sleep_cost_ns = [program, &settings](const Op& op) { return settings.sleep_cost_ns(*program, op); };
  }
  RankRun run(std::move(rank), number);
  if (body)
    body(run, number);
  else
    run.run(settings.first_step, settings.steps - settings.first_step);
}

}  // namespace

RunSettings over_nccl(RunSettings settings, int ranks) {
  const auto gpus = static_cast<int>(gpus_here().size());
  if (gpus < ranks)
    throw DeviceError(
        fmt::format("the communicator 'nccl' needs a GPU for each rank: the plan has {}, and this machine {}; use "
                    "'loopback' to share one",
                    ranks, gpus));
  settings.platform_of = [device = settings.device, threads = settings.threads_per_rank,
                          options = settings.gpu_options](int rank) {
    return open_platform(device, threads, rank, options);
  };
  settings.over = [comm = settings.comm](std::unique_ptr<World> threads) {
    return nccl_world(std::move(threads), comm);
  };
  return settings;
}

void run_loopback(const StepProgram& step, const RunSettings& settings, const ObserverOf& observer,
                  const RankBody& body) {
  const std::unique_ptr<Dataset> dataset = dataset_of(step, settings);
  const std::shared_ptr<const Platform> shared = settings.platform_of ? nullptr : platform_of(settings);
  const std::shared_ptr<LoopbackHub> hub = make_loopback(step.grid.size(), settings.comm);
  std::mutex mutex;
  std::optional<RunFailure> first_failure;
  // The first failure is reported. Others fail because of it, and may end before its thread does.
  const auto fail = [&](int rank, const std::string& why) {
    const std::lock_guard lock(mutex);
    if (!first_failure) first_failure.emplace(rank, why);
  };
  {
    const auto on_its_thread = [&](int rank) {
      std::unique_ptr<World> mine;
      try {
        mine = world(hub, rank);
        const auto platform = settings.platform_of ? settings.platform_of(rank) : shared;
        if (platform) platform->device->use();
        if (settings.over) mine = settings.over(std::move(mine));
        run_rank(step, settings, {*mine, dataset.get(), platform, false, shared && step.grid.size() > 1}, observer,
                 body, [&fail, rank](const std::string& why) { fail(rank, why); });
      } catch (const std::exception& e) {
        fail(rank, e.what());
        if (mine) mine->abort(fmt::format("rank {}: {}", rank, e.what()));
      }
    };
    std::vector<std::jthread> ranks;
    ranks.reserve(step.grid.size());
    for (int rank = 0; rank < step.grid.size(); ++rank) try {
        ranks.push_back(
            start_thread<std::jthread>(fmt::format("rank {}", rank), [&on_its_thread, rank] { on_its_thread(rank); }));
      } catch (const std::exception& e) {  // the running ranks wait for this one
        fail(rank, e.what());
        world(hub, rank)->abort(fmt::format("rank {}: {}", rank, e.what()));
        break;
      }
  }
  if (first_failure) throw *first_failure;
}

void run_process_rank(const StepProgram& step, const RunSettings& settings, World& world, const ObserverOf& observer,
                      const RankBody& body) {
  try {
    const std::unique_ptr<Dataset> dataset = dataset_of(step, settings);
    run_rank(step, settings, {world, dataset.get(), platform_of(settings), true, false}, observer, body, {});
  } catch (const std::exception& e) {
    world.abort(fmt::format("rank {}: {}", world.rank(), e.what()));
    throw RunFailure(world.rank(), e.what(), dynamic_cast<const CommError*>(&e) != nullptr);
  }
}

}  // namespace rankscope
