// A GPU's memory: when it is reserved, what is reported and predicted, and who can access it; and which GPU a rank
// uses.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>
#include <mutex>
#include <thread>

#include "engine/base/host/clock.hpp"
#include "engine/execute/run/scratch.hpp"
#include "kernels/cuda/device.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/run/on_queues.hpp"

using namespace rankscope;
using namespace rankscope::on_queues;

namespace {

/// Runs `body` in a child. Returns its exit status, or minus the signal that killed it.
template <class Body>
int status_of_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("nothing is reserved on the device once the first step has begun, and no event is waited for too early") {
  const StepProgram step = compile(scenario_of({"1f1b", 2, 1, 2}));
  RunSettings settings = on_gpu(0);
  const emulated::Counts at_start = emulated::counts();  // another test waits for unrecorded events on purpose
  std::mutex mutex;
  std::map<int, std::array<std::uint64_t, 2>> reserved;
  run_loopback(
      step, settings, [](int) { return nullptr; },
      [&](RankRun& run, int rank) {
        run.run(0, 1);  // no rank begins its second step before all have reserved their memory
        const std::uint64_t before = emulated::counts().allocations;
        run.run(1, 2);
        const std::lock_guard lock(mutex);
        reserved[rank] = {before, emulated::counts().allocations};
      });
  for (const auto& [rank, counts] : reserved) CHECK(counts[0] == counts[1]);
  CHECK(emulated::counts().waits > at_start.waits);
  CHECK(emulated::counts().waits_for_nothing == at_start.waits_for_nothing);
}

TEST_CASE(
    "a GPU's context and workspaces are separate classes, reported as predicted, and all of its memory is reported") {
  const StepProgram step = compile(scenario_of({"1f1b"}));
  const RunSettings settings = on_gpu(0);
  Device& device = *settings.platform->device;
  std::vector<RankProgram> programs = step.all_programs();
  set_scratch(step, programs, *settings.platform);
  const MemoryProfile predicted = memory_profile(programs.front());
  const std::int64_t context = device.context_bytes();
  CHECK(context > 0);
  const auto predicted_of = [&](MemoryClass memory) {
    return predicted.peak_by_class[static_cast<std::size_t>(memory)];
  };
  CHECK(predicted_of(MemoryClass::context) == context);
  CHECK(predicted_of(MemoryClass::workspace) == programs.front().scratch_bytes);

  constexpr std::int64_t code = 3 << 20;  // what the first launch of a kernel would load
  RunReports reports;
  std::int64_t used = 0;
  run_loopback(
      step, settings, [&](int) { return &reports; },
      [&](RankRun& run, int) {
        emulated::take(code);
        run.run(0, 1);
        used = kernels::cuda_used_bytes();
        run.run(1, 2);
      });
  const ClassBytes& peaks = reports.peaks.at(0);
  const auto reported_of = [&](MemoryClass memory) { return peaks[static_cast<std::size_t>(memory)]; };
  CHECK(reported_of(MemoryClass::workspace) == programs.front().scratch_bytes);
  // Small reservations outside the program (tables of addresses, the step's scalars) are also part of the context.
  CHECK(reported_of(MemoryClass::context) >= context + code);
  CHECK(reported_of(MemoryClass::context) < context + code + (64 << 10));
  CHECK(reports.peak.at(0) <= used);
  // The only memory that is reserved and not reported: gaps in the arena, between tensors and where fewer tensors are
  // alive than at the peak; and some hundred bytes outside it, such as the step's scalars.
  const std::int64_t gaps = programs.front().arena_bytes - (predicted.peak - context - programs.front().scratch_bytes);
  CHECK(gaps >= 0);
  CHECK(used - reports.peak.at(0) <= gaps + (1 << 10));
  emulated::take(-code);
}

TEST_CASE("the predicted context is the one that the cluster's file states") {
  Scenario scenario = scenario_of({"1f1b"});
  scenario.cluster.context_bytes = 1.5e9;
  const StepProgram step = compile(scenario);
  std::vector<RankProgram> programs = step.all_programs();
  set_scratch(step, programs, *on_gpu(0).platform);
  CHECK(programs.front().context_bytes == 1'500'000'000);
  // If processes share the device, its used memory cannot be assigned to one context.
  Platform shared = *on_gpu(0).platform;
  CHECK(shared.context_bytes() > 0);
  shared.is_alone = false;
  CHECK(shared.context_bytes() == 0);
  std::vector<RankProgram> on_cpu = step.all_programs();
  set_scratch(step, on_cpu, *open_platform("cpu"));
  CHECK(on_cpu.front().context_bytes == 0);
}

TEST_CASE("the host cannot access the device's memory") {
  const auto device = kernels::cuda_device(0);
  const Memory memory = device->reserve(64);
  CHECK(status_of_child([] {}) == 0);
  CHECK(status_of_child([&] { _exit(static_cast<int>(*reinterpret_cast<volatile char*>(memory.get()))); }) == -SIGSEGV);
}

TEST_CASE("a rank runs on its platform's GPU, whatever device its thread used before") {
  const StepProgram step = compile(scenario_of({"1f1b"}));
  const std::unique_ptr<Dataset> dataset = open_dataset(step.scenario);
  on_gpu(0);
  const auto platform = open_platform("cuda", 1, 2);
  std::string failure;
  int first = -1;
  RunReports reports;
  std::thread([&] {
    first = kernels::current_cuda_device();
    try {
      RankSettings settings(step);
      settings.platform = platform;
      settings.dataset = dataset.get();
      settings.observer = &reports;
      settings.start_ns = monotonic_ns();
      RankRun(std::move(settings), 0).run(0, 2);
    } catch (const std::exception& error) {
      failure = error.what();
    }
  }).join();
  CHECK(first == 0);
  CHECK(failure == "");
  CHECK(reports.losses.size() == 2);
}

TEST_CASE("a GPU that does not exist is refused by its number") {
  CHECK_NOTHROW(open_platform("cuda", 1, 3));
  CHECK_THROWS_AS(open_platform("cuda", 1, 4), DeviceError);
  CHECK_THROWS_WITH(open_platform("cuda", 1, 4),
                    "the device 'cuda' cannot be used here: there is no GPU number 4 among 4");
  CHECK_THROWS_AS(open_platform("cuda", 1, -1), DeviceError);
}
