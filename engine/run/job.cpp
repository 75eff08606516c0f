#include "engine/run/job.hpp"

#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/comm/loopback.hpp"

namespace rankscope {
namespace {

/// What all ranks of a process share, read only.
struct Shared {
  std::unique_ptr<Dataset> dataset;
  std::shared_ptr<const Platform> platform;  ///< null: ops sleep
};

Shared make_shared_parts(const StepProgram& step, const RunSettings& settings) {
  Shared shared;
  if (settings.device == "sleep") return shared;
  shared.platform = settings.platform ? settings.platform : open_platform(settings.device, settings.threads_per_rank);
  shared.dataset = open_dataset(step.scenario);
  return shared;
}

void run_rank(const StepProgram& step, const RunSettings& settings, const Shared& shared, World& world,
              const ObserverOf& observer, const RankBody& body, bool own_process,
              std::function<void(const std::string&)> on_failure) {
  RankSettings rank(step);
  rank.world = &world;
  rank.dataset = shared.dataset.get();
  rank.platform = shared.platform;
  rank.shares_device = !own_process && world.size() > 1;
  rank.observer = observer ? observer(world.rank()) : nullptr;
  rank.start_ns = settings.start_ns;
  rank.stress = settings.stress;
  rank.checkpoint_folder = settings.checkpoint_folder;
  rank.resume = settings.resume;
  rank.kill_by_signal = own_process;
  rank.on_failure = std::move(on_failure);
  std::unique_ptr<RankRun> run;
  if (!shared.platform) {
    // Costs are asked for while binding; the ops of this program are those of the RankRun's own copy.
    const auto program = std::make_shared<RankProgram>(step.program_for(world.rank()));
    rank.sleep_cost_ns = [program, &settings](const Op& op) { return settings.sleep_cost_ns(*program, op); };
  }
  run = std::make_unique<RankRun>(std::move(rank), world.rank());
  if (body)
    body(*run, world.rank());
  else
    run->run(settings.first_step, settings.steps - settings.first_step);
}

}  // namespace

void run_loopback(const StepProgram& step, const RunSettings& settings, const ObserverOf& observer,
                  const RankBody& body) {
  const Shared shared = make_shared_parts(step, settings);
  const std::shared_ptr<LoopbackHub> hub = make_loopback(step.grid.size(), settings.comm);
  std::mutex mutex;
  std::optional<RunFailure> first_failure;
  // The first to fail is the one to name; the others fail because of it, perhaps sooner than its thread ends.
  const auto fail = [&](int rank, const std::string& why) {
    const std::lock_guard lock(mutex);
    if (!first_failure) first_failure.emplace(rank, why);
  };
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < step.grid.size(); ++rank)
      ranks.emplace_back([&, rank] {
        const std::unique_ptr<World> mine = world(hub, rank);
        try {
          run_rank(step, settings, shared, *mine, observer, body, false,
                   [&fail, rank](const std::string& why) { fail(rank, why); });
        } catch (const std::exception& e) {
          fail(rank, e.what());
          mine->abort("rank " + std::to_string(rank) + ": " + e.what());
        }
      });
  }
  if (first_failure) throw *first_failure;
}

void run_process_rank(const StepProgram& step, const RunSettings& settings, World& world, const ObserverOf& observer,
                      const RankBody& body) {
  try {
    run_rank(step, settings, make_shared_parts(step, settings), world, observer, body, true, {});
  } catch (const std::exception& e) {
    world.abort("rank " + std::to_string(world.rank()) + ": " + e.what());
    throw RunFailure(world.rank(), e.what(), dynamic_cast<const CommError*>(&e) != nullptr);
  }
}

}  // namespace rankscope
