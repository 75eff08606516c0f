// Complete plans over the nccl communicator, on emulated GPUs' streams and an emulated library: the real executor,
// binding, kernel sources and communicators.
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "engine/execute/comm/loopback.hpp"
#include "engine/execute/comm/nccl.hpp"
#include "engine/prove/verify/verify.hpp"
#include "kernels/cpu/cpu.hpp"
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/queue_device.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/comm/nccl/emulated.hpp"
#include "tests/engine/execute/run/on_queues.hpp"
#include "tests/kernels/cuda/emulated/runtime.hpp"
#include "tests/places.hpp"
#include "tests/wait_until.hpp"

using namespace rankscope;
using namespace std::chrono_literals;
using on_queues::Plan, on_queues::scenario_of, on_queues::text_of;

namespace {

template <class Function>
Function* emulated_function(const char* name) {
  void* library = dlopen(test::program("librankscope_emulated_nccl.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, name));
}
std::string misuse() { return emulated_function<decltype(emulated_nccl_misuse)>("emulated_nccl_misuse")(); }

/// All events that the library has reported since the last call.
std::vector<emulated_nccl::ReportedEvent> reported_events() {
  const auto has_reported_all =
      emulated_function<decltype(emulated_nccl_has_reported_all)>("emulated_nccl_has_reported_all");
  REQUIRE(test::wait_until(60s, has_reported_all));
  std::vector<emulated_nccl::ReportedEvent> events;
  emulated_function<decltype(emulated_nccl_reported)>("emulated_nccl_reported")(events);
  return events;
}

void enqueue_on_gpu(void* stream, std::function<void()> work) {
  if (emulated::enqueue_waiting(stream, std::move(work)) != cudaSuccess) std::abort();
}

std::shared_ptr<const Platform> emulated_gpu(int index) {
  return std::make_shared<Platform>(
      Platform{kernels::cuda_device(index), kernels::cuda_kernels(), kernels::cpu_kernels()});
}

/// All ranks share the first GPU.
RunSettings on_one_gpu(std::uint32_t steps) {
  emulated::set_pace({.seed = 5, .greatest_delay_us = 50});
  RunSettings settings;
  settings.platform = emulated_gpu(0);
  settings.steps = steps;
  return settings;
}

/// A GPU for each rank.
RunSettings over_emulated_nccl(std::uint32_t steps) {
  emulated_function<decltype(emulated_nccl_streams)>("emulated_nccl_streams")(enqueue_on_gpu, emulated::transfer);
  RunSettings settings = on_one_gpu(steps);
  settings.platform = nullptr;
  settings.platform_of = emulated_gpu;
  settings.over = [comm = settings.comm](std::unique_ptr<World> threads) {
    return nccl_world(std::move(threads), comm, {test::program("librankscope_emulated_nccl.so")});
  };
  return settings;
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class RunReports : public RankObserver {
 public:
  /// Called for every span.
  void memory(Lane, const MemorySample&) override {}
  void span(Lane, const Span& span) override {
    const std::lock_guard lock(mutex_);
    spans[{span.rank, span.step, span.op}] = span;
  }
  void phase(Lane, const PhaseSpan& phase) override {
    const std::lock_guard lock(mutex_);
    phases[{phase.rank, phase.step, phase.op}].push_back(phase);
  }
  void step_done(const StepSummary& summary, const StepTrace&) override {
    const std::lock_guard lock(mutex_);
    if (!std::isnan(summary.loss)) losses[{summary.rank, summary.step}] = summary.loss;
    norms[{summary.rank, summary.step}] = summary.gradient_square_norm;
    peaks[summary.rank] = summary.peak_bytes;
  }
  std::map<std::pair<int, std::uint32_t>, double> losses, norms;
  std::map<int, ClassBytes> peaks;                     ///< of the last step
  using Place = std::tuple<int, std::uint32_t, OpId>;  ///< rank, step and op
  std::map<Place, Span> spans;
  std::map<Place, std::vector<PhaseSpan>> phases;

 private:
  std::mutex mutex_;
};

/// A world whose groups allocate device memory, as NCCL's do.
class TakingWorld : public World {
 public:
  explicit TakingWorld(std::unique_ptr<World> inner) : inner_(std::move(inner)) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  std::string_view name() const override { return inner_->name(); }
  std::unique_ptr<Communicator> group(std::vector<int> members, Lane lane,
                                      Choice<CollectiveChoice> algorithm) override {
    emulated::take(taken_by_each);
    ++groups;
    return inner_->group(std::move(members), lane, algorithm);
  }
  std::vector<std::string> exchange(const std::string& mine) override { return inner_->exchange(mine); }
  void abort(const std::string& why) override { inner_->abort(why); }
  void throw_if_failed() override { inner_->throw_if_failed(); }
  void ask_to_stop() override { inner_->ask_to_stop(); }
  bool is_asked_to_stop() override { return inner_->is_asked_to_stop(); }
  static constexpr std::int64_t taken_by_each = 5 << 20;
  static inline std::atomic<int> groups{0};

 private:
  std::unique_ptr<World> inner_;
};

}  // namespace

TEST_CASE("GPU memory that NCCL allocates at its start is workspace, not context") {
  const StepProgram step = compile(scenario_of({"1f1b", 2, 1, 1, 0, "auto"}));
  RunSettings settings = over_emulated_nccl(2);
  settings.over = [](std::unique_ptr<World> threads) {
    return std::make_unique<TakingWorld>(
        nccl_world(std::move(threads), {}, {test::program("librankscope_emulated_nccl.so")}));
  };
  RunReports reports;
  TakingWorld::groups = 0;
  run_loopback(step, settings, [&](int) { return &reports; });
  REQUIRE(TakingWorld::groups > 0);
  const std::int64_t taken = TakingWorld::groups / 2 * TakingWorld::taken_by_each;  // by each rank on its device
  for (const auto& [rank, peaks] : reports.peaks) {
    const std::int64_t workspace = peaks[static_cast<std::size_t>(MemoryClass::workspace)];
    CHECK(workspace >= taken);
    CHECK(workspace < taken + TakingWorld::taken_by_each);
    CHECK(peaks[static_cast<std::size_t>(MemoryClass::context)] < (32 << 20) + (1 << 20));
  }
}

TEST_CASE("over nccl every plan trains the same model as one rank, with a GPU for each rank, within NCCL's rules") {
  const Plan plan =
      GENERATE(Plan{"1f1b", 2, 1, 1, 0, "auto"}, Plan{"1f1b", 2, 1, 2, 1, "auto"}, Plan{"gpipe", 1, 2, 2, 0, "auto"},
               Plan{"1f1b", 4, 1, 1, 3, "auto"}, Plan{"1f1b", 2, 2, 1, 2, "tree"}, Plan{"zb-h1", 2, 1, 2, 0, "ring"});
  RunSettings settings = over_emulated_nccl(1);
  const bool rendezvous = plan.zero == 0;  // with and without a rendezvous on the host
  settings.over = [rendezvous](std::unique_ptr<World> threads) {
    CommOptions comm;
    comm.stamp_arrivals = rendezvous;
    return nccl_world(std::move(threads), comm, {test::program("librankscope_emulated_nccl.so")});
  };
  settings.stress.poison = true;
  const VerifyResult result = verify(scenario_of(plan), settings);
  INFO(text_of(plan) << "\n" << to_text(result));
  CHECK(result.passed);
  CHECK(misuse() == "");
}

TEST_CASE("over nccl the losses are the same on separate GPUs and on a shared one") {
  const Plan plan = GENERATE(Plan{"1f1b", 2, 1, 2, 0, "auto"}, Plan{"1f1b", 2, 2, 1, 2, "auto"});
  INFO(text_of(plan));
  const StepProgram step = compile(scenario_of(plan));
  RunReports shared, own;
  run_loopback(step, on_one_gpu(3), [&](int) { return &shared; });
  run_loopback(step, over_emulated_nccl(3), [&](int) { return &own; });
  REQUIRE(own.losses.size() == shared.losses.size());
  REQUIRE(own.losses.size() >= 3);
  for (const auto& [place, loss] : shared.losses) CHECK(own.losses.at(place) == Approx(loss).epsilon(1e-5));
  for (const auto& [place, norm] : shared.norms) CHECK(own.norms.at(place) == Approx(norm).epsilon(1e-4));
  CHECK(misuse() == "");
}

TEST_CASE("phases reported by NCCL belong to the op that called it, on every rank and step") {
  const Plan plan =
      GENERATE(Plan{"1f1b", 2, 1, 2, 0, "auto"}, Plan{"1f1b", 4, 1, 1, 3, "auto"}, Plan{"gpipe", 2, 1, 2, 0, "ring"});
  INFO(text_of(plan));
  const StepProgram step = compile(scenario_of(plan));
  const std::uint32_t steps = 3;
  RunSettings settings = over_emulated_nccl(steps);
  settings.over = [](std::unique_ptr<World> threads) {
    CommOptions comm;
    comm.record_phases = true;
    return nccl_world(std::move(threads), comm, {test::program("librankscope_emulated_nccl.so")});
  };
  std::mutex mutex;
  std::vector<std::shared_ptr<const Platform>> platforms;
  settings.platform_of = [&](int rank) {
    const std::lock_guard lock(mutex);
    return platforms.emplace_back(emulated_gpu(rank));
  };
  const emulated_nccl::ProfilerBehaviour telling;
  enable_nccl_profiler();
  reported_events();
  settings.start_ns = now_ns();
  RunReports reports;
  run_loopback(step, settings, [&](int) { return &reports; });
  std::int64_t uncertainty_ns = 0;
  for (const auto& platform : platforms)
    uncertainty_ns = std::max(uncertainty_ns, platform->device->clock_uncertainty_ns());
  unsetenv("NCCL_PROFILER_PLUGIN");
  std::int64_t latest_ns = 0;
  for (const emulated_nccl::ReportedEvent& event : reported_events()) latest_ns = std::max(latest_ns, event.late_ns);
  std::size_t expected_ops = 0;
  for (const RankProgram& program : step.all_programs())
    for (const Op& op : program.ops) {
      const bool is_message = op.id.kind() == OpKind::send || op.id.kind() == OpKind::receive;
      const bool is_library = plan.collective == "auto";
      if (!is_communication(op.id.kind())) continue;
      if (is_collective(op.id.kind()) && step.grid.group_of(program.rank, op.group).size() < 2) continue;
      for (std::uint32_t s = 0; s < steps; ++s) {
        const RunReports::Place place{program.rank, s, op.id};
        INFO(to_token(op.id) << " of rank " << program.rank << " in step " << s);
        ++expected_ops;
        REQUIRE(reports.phases.contains(place));
        const std::vector<PhaseSpan>& phases = reports.phases.at(place);
        const Span& span = reports.spans.at(place);
        if (!is_message && !is_library) {
          for (const PhaseSpan& phase : phases) CHECK(phase.bytes > 0);  // executed, transfer by transfer
          continue;
        }
        CHECK(phases.size() == static_cast<std::size_t>(telling.channels));
        for (const PhaseSpan& phase : phases) {
          const int sends = op.id.kind() == OpKind::send ? program.rank : op.peer;
          CHECK(phase.from == (is_message ? sends : -1));
          CHECK(phase.to == (is_message ? (sends == program.rank ? op.peer : program.rank) : -1));
          CHECK(phase.bytes == -1);
          // On the device, the phase is within the op, except for the error of the device's clock and the shortest
          // reporting delay of its timer, which is no longer than the longest one.
          CHECK(phase.begin_ns >= span.begin_ns - uncertainty_ns);
          CHECK(phase.end_ns <= span.end_ns + uncertainty_ns + latest_ns);
        }
      }
    }
  CHECK(reports.phases.size() == expected_ops);
  CHECK(misuse() == "");
}

// Hidden: the next test runs it in its own process.
TEST_CASE("the plan over nccl whose edges between streams the environment selects", "[.][edges]") {
  const RunSettings settings = over_emulated_nccl(1);
  const char* missing = std::getenv("RANKSCOPE_TEST_EDGES_MISSING");
  emulated::set_pace({.seed = 5, .greatest_delay_us = 50, .ignores_waits = missing != nullptr});
  CHECK(verify(scenario_of({"1f1b", 2, 1, 2, 0, "auto"}), settings).passed);
  misuse();
}

// A kernel that does not wait for its operands may read uninitialised token numbers, and crash. A crash also means that
// the training is not the same. It must not end the process of the other tests.
TEST_CASE("with every edge between streams missing, plans over nccl do not train the same model") {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto trains_the_same = [&](const std::string& environment) {
    return std::system((environment + " '" + self + "' -# '[edges][#nccl_test]' > /dev/null 2>&1").c_str()) == 0;
  };
  CHECK(trains_the_same(""));
  CHECK_FALSE(trains_the_same("RANKSCOPE_TEST_EDGES_MISSING=1"));
}

TEST_CASE("a rank that fails in the midst of a run over nccl ends the others, streams and all, and is named") {
  const StepProgram step = compile(scenario_of({"1f1b", 2, 1, 2, 0, "auto"}));
  RunSettings settings = over_emulated_nccl(50);
  std::atomic<int> calls{0};
  settings.over = [&calls](std::unique_ptr<World> threads) {
    CommOptions comm;
    comm.before = [&calls](int rank, Lane lane, const char*) {
      if (rank == 1 && lane == Lane::data && ++calls == 20) throw std::runtime_error("planted");
    };
    return nccl_world(std::move(threads), comm, {test::program("librankscope_emulated_nccl.so")});
  };
  const auto begin = std::chrono::steady_clock::now();
  int failed = -1;
  std::string why;
  try {
    run_loopback(step, settings, {});
  } catch (const RunFailure& failure) {
    failed = failure.rank;
    why = failure.what();
  }
  CHECK(failed == 1);
  CHECK_THAT(why, ContainsText("planted"));
  CHECK(std::chrono::steady_clock::now() - begin < 40s);  // the time limit of a wait is a minute
  misuse();                                               // ranks could not leave cleanly
}

TEST_CASE("a peer lost while its collective is on the device ends the run with the call and its peers named") {
  const StepProgram step = compile(scenario_of({"1f1b", 2, 1, 1, 0, "auto"}));
  RunSettings settings = over_emulated_nccl(1000);
  std::atomic<int> calls{0};
  const auto lose = emulated_function<decltype(emulated_nccl_lose)>("emulated_nccl_lose");
  settings.over = [&](std::unique_ptr<World> threads) {
    CommOptions comm;
    comm.stamp_arrivals = false;
    comm.before = [&](int rank, Lane lane, const char*) {
      if (rank == 1 && lane == Lane::data && ++calls == 20) lose(1);
    };
    return nccl_world(std::move(threads), comm, {test::program("librankscope_emulated_nccl.so")});
  };
  std::string why;
  try {
    run_loopback(step, settings, {});
  } catch (const RunFailure& failure) {
    why = failure.what();
  }
  lose(-1);
  CHECK_THAT(why, ContainsText("on lane data"));
  CHECK_THAT(why, ContainsText("remote process exited"));
  misuse();
}

// A device may allocate or release memory only when all work on its queues is done, and that work may wait for a peer.
TEST_CASE("over nccl all GPU memory is reserved before the first rank begins a step") {
  const char* const collective = GENERATE("auto", "ring", "tree", "halving-doubling", "naive");
  const Plan plan = GENERATE_REF(Plan{"1f1b", 4, 1, 1, 0, collective}, Plan{"1f1b", 2, 1, 2, 0, collective},
                                 Plan{"1f1b", 4, 1, 1, 3, collective}, Plan{"1f1b", 2, 2, 1, 0, collective});
  Scenario scenario = scenario_of(plan);
  // Also gathers and scatters.
  if (plan.data == 4 && plan.zero == 0) scenario.plan.data_parallel = GENERATE("all-reduce", "main-device");
  INFO(text_of(plan) << ", " << scenario.plan.data_parallel);
  const StepProgram step = compile(scenario);
  std::barrier together(step.grid.size());
  std::mutex mutex;
  std::map<int, std::array<std::uint64_t, 2>> reserved;
  run_loopback(
      step, over_emulated_nccl(2), [](int) { return nullptr; },
      [&](RankRun& run, int rank) {
        together.arrive_and_wait();  // all ranks have reserved what they need
        const std::uint64_t before = emulated::counts().allocations;
        together.arrive_and_wait();
        run.run(0, 2);
        const std::lock_guard lock(mutex);
        reserved[rank] = {before, emulated::counts().allocations};
      });
  CHECK(reserved.size() == static_cast<std::size_t>(step.grid.size()));
  for (const auto& [rank, counts] : reserved) CHECK(counts[0] == counts[1]);
  CHECK(misuse() == "");
}

// The first memory may be released only when all work on its GPU is done. Here that includes rank 0's all_reduce on
// another lane, and rank 1 calls this one only after the collective that needs more memory.
TEST_CASE("a collective that needs more memory than the one before does not wait for another lane's peer") {
  over_emulated_nccl(1);
  CommOptions comm;
  comm.stamp_arrivals = false;
  comm.time_limit = 5s;
  const auto hub = make_loopback(2, comm);
  std::array<std::string, 2> errors;
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < 2; ++rank)
    ranks.emplace_back([&, rank] {
      try {
        const auto device = kernels::cuda_device(rank);
        device->use();
        const auto mine = nccl_world(world(hub, rank), comm, {test::program("librankscope_emulated_nccl.so")});
        const auto other = mine->group({0, 1}, Lane::zero_gather, "auto"),
                   ring = mine->group({0, 1}, Lane::data, "ring");
        const auto other_queue = device->make_queue(), ring_queue = device->make_queue();
        other->run_on(*device, *other_queue);
        ring->run_on(*device, *ring_queue);
        const Memory memory = device->reserve(8192);
        ring_queue->fill(memory.get(), 0, 8192);
        const auto sum = [&](Communicator& group, std::int64_t elements) {
          group.collective(
              {OpKind::all_reduce, {memory.get() + (&group == other.get() ? 4096 : 0), DType::f32, {elements}}});
        };
        if (rank == 0) sum(*other, 8);
        sum(*ring, 8);
        sum(*ring, 1000);
        ring_queue->mark()->wait();
        if (rank == 1) sum(*other, 8);
        other_queue->mark()->wait();
        mine->throw_if_failed();
        mine->exchange("nobody leaves before all are done");
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  ranks.clear();
  CHECK(errors == std::array<std::string, 2>{});
}

TEST_CASE("a plan with more ranks than there are GPUs is refused before it runs") {
  CHECK_THROWS_WITH(over_nccl({}, emulated::gpu_count + 1), ContainsText("needs a GPU for each rank: the plan has 5"));
}

TEST_CASE("an emulated GPU takes work from threads that use it only, as CUDA does") {
  const auto first = kernels::cuda_device(0), second = kernels::cuda_device(1);
  second->use();
  const auto queue = second->make_queue();
  first->use();
  CHECK_THROWS_AS(queue->fill(second->reserve(64).get(), 0, 64), DeviceError);
  CHECK_THROWS_AS(queue->mark(), DeviceError);
  second->use();
  CHECK_NOTHROW(queue->mark()->wait());
}
