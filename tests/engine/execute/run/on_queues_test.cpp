// A run on a GPU without a GPU: lanes are streams that go at their own pace, the device's memory is out of the host's
// reach, and kernels are the real sources (tests/kernels/cuda/emulated). What must hold on the CPU must hold here.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "engine/execute/run/clock.hpp"
#include "engine/execute/run/scratch.hpp"
#include "engine/prove/verify/verify.hpp"
#include "kernels/cpu/cpu.hpp"
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/queue_device.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cuda/emulated/runtime.hpp"

using namespace rankscope;
using namespace std::chrono_literals;

namespace {

constexpr int greatest_delay_us = 100;

RunSettings on_gpu(int delay_us = greatest_delay_us) {
  emulated::set_pace({.seed = 7, .greatest_delay_us = delay_us});
  RunSettings settings;
  settings.platform =
      std::make_shared<Platform>(Platform{kernels::cuda_device(0), kernels::cuda_kernels(), kernels::cpu_kernels()});
  settings.stress.poison = true;
  return settings;
}

struct Plan {
  std::string schedule;
  int data = 1, tensor = 1, pipeline = 1, zero = 0;
  std::string collective = "auto", offload = "none", recompute = "none";
  bool sequence_parallel = false;
  std::string data_parallel = "all-reduce";
};

Scenario scenario_of(const Plan& plan, const std::string& precision = "fp32") {
  Scenario s;
  s.title = "on queues";
  s.model = {"gpt", 2, 16, 2, 8, 32, true, 0.1};
  s.plan.schedule = plan.schedule;
  s.plan.data = plan.data;
  s.plan.tensor = plan.tensor;
  s.plan.pipeline = plan.pipeline;
  s.plan.zero = plan.zero;
  s.plan.collective = plan.collective;
  s.plan.offload = plan.offload;
  s.plan.recompute = plan.recompute;
  s.plan.sequence_parallel = plan.sequence_parallel;
  s.plan.data_parallel = plan.data_parallel;
  s.plan.micro_batches = 2;
  s.plan.precision = precision;
  s.plan.bucket_mib = 0.005;  // several
  s.train.global_batch = 2 * plan.data;
  s.train.optimizer = "sgd";
  s.train.clip = 0.5;
  return s;
}

std::string text_of(const Plan& p) {
  return p.schedule + " data " + std::to_string(p.data) + " tensor " + std::to_string(p.tensor) + " pipeline " +
         std::to_string(p.pipeline) + " ZeRO " + std::to_string(p.zero) + " " + p.collective + " offload " + p.offload +
         " recompute " + p.recompute + " " + p.data_parallel;
}

/// What a run tells: losses by step, and whether times are in order.
class Told : public RankObserver {
 public:
  void span(Lane lane, const Span& span) override {
    const std::lock_guard lock(mutex_);
    ++spans;
    std::int64_t& last = last_end_[{span.rank, static_cast<int>(lane)}];
    in_order = in_order && last <= span.begin_ns && span.begin_ns <= span.active_ns && span.active_ns <= span.end_ns;
    last = span.end_ns;
  }
  void memory(Lane, const MemorySample& sample) override {
    const std::lock_guard lock(mutex_);
    std::int64_t& last = last_sample_[sample.rank];
    in_order = in_order && last <= sample.time_ns;
    last = sample.time_ns;
  }
  void phase(Lane, const PhaseSpan& phase) override {
    const std::lock_guard lock(mutex_);
    ++phases;
    in_order = in_order && phase.begin_ns <= phase.end_ns;
  }
  void step_done(const StepSummary& summary, const StepTrace& trace) override {
    const std::lock_guard lock(mutex_);
    if (!std::isnan(summary.loss)) losses[summary.step] += summary.loss;  // of replicas
    square_norm[summary.step] += summary.gradient_square_norm;
    if (!summary.magnitudes.empty()) {
      std::vector<double>& sum = magnitudes[summary.step];
      sum.resize(summary.magnitudes.size());
      for (std::size_t b = 0; b < sum.size(); ++b) sum[b] += summary.magnitudes[b];
    }
    scales[summary.step] = summary.loss_scale;
    peak[summary.rank] = std::max(peak[summary.rank], summary.peak_total_bytes);
    for (std::size_t c = 0; c < memory_class_count; ++c)
      peaks[summary.rank][c] = std::max(peaks[summary.rank][c], summary.peak_bytes[c]);
    for (const std::int64_t cost : trace.cpu_ns) has_costs = has_costs && cost >= 0;
  }

  std::map<std::uint32_t, double> losses, square_norm, scales;
  std::map<std::uint32_t, std::vector<double>> magnitudes;
  std::map<int, std::int64_t> peak;
  std::map<int, ClassBytes> peaks;
  int spans = 0, phases = 0;
  bool in_order = true, has_costs = true;

 private:
  std::mutex mutex_;
  std::map<std::pair<int, int>, std::int64_t> last_end_;
  std::map<int, std::int64_t> last_sample_;
};

void run_told(const Scenario& scenario, RunSettings settings, std::uint32_t steps, Told& told) {
  settings.steps = steps;
  settings.comm.record_phases = true;
  run_loopback(compile(scenario), settings, [&](int) { return &told; });
}

/// The numbers differ, or what is read later is not there yet.
bool is_wrong(const Scenario& scenario, const RunSettings& settings) {
  try {
    return !verify(scenario, settings).passed;
  } catch (const RunFailure&) {
    return true;
  }
}

/// The exit status of a child that runs `body`; minus the signal that killed it.
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

TEST_CASE("on streams every plan trains the same model as one rank") {
  const Plan plan = GENERATE(Plan{"zb-h1", 1, 1, 2}, Plan{"1f1b", 2, 1, 2, 1}, Plan{"1f1b", 2, 1, 1, 2, "ring"},
                             Plan{"1f1b", 4, 1, 1, 3}, Plan{"1f1b", 2, 2, 1, 0, "tree", "none", "blocks", true},
                             Plan{"1f1b", 2, 1, 1, 1, "auto", "optimizer"},
                             Plan{"1f1b", 2, 1, 1, 0, "auto", "none", "none", false, "main-device"},
                             Plan{"1f1b", 2, 1, 1, 0, "auto", "none", "none", false, "parameter-server"});
  const VerifyResult result = verify(scenario_of(plan), on_gpu());
  INFO(text_of(plan) << "\n" << to_text(result));
  CHECK(result.passed);
}

TEST_CASE("a GPU's losses and norms are the CPU's, and its reports are in order") {
  const Plan plan = GENERATE(Plan{"1f1b"}, Plan{"1f1b", 2, 1, 2, 1}, Plan{"1f1b", 2, 1, 1, 0, "ring"});
  INFO(text_of(plan));
  Scenario scenario = scenario_of(plan);
  scenario.train.optimizer = "adamw";
  scenario.train.magnitudes_every = 2;
  Told on_cpu, on_device;
  run_told(scenario, {}, 3, on_cpu);
  run_told(scenario, on_gpu(), 3, on_device);
  REQUIRE(on_device.losses.size() == 3);
  for (const auto& [step, loss] : on_cpu.losses) CHECK(on_device.losses.at(step) == Approx(loss).epsilon(1e-5));
  for (const auto& [step, square] : on_cpu.square_norm)
    CHECK(on_device.square_norm.at(step) == Approx(square).epsilon(1e-4));
  // Rounding moves few of them to another power of two, but for the key's bias, whose gradient is rounding.
  REQUIRE(on_device.magnitudes.size() == 2);
  for (const auto& [number, counts] : on_cpu.magnitudes) {
    double all = 0, differ = 0;
    for (std::size_t b = 0; b < counts.size(); ++b) {
      all += counts[b];
      differ += std::abs(counts[b] - on_device.magnitudes.at(number)[b]);
    }
    CHECK(all > 1000);
    CHECK(differ < 0.02 * all);
  }
  CHECK(on_device.spans == on_cpu.spans);
  CHECK(on_device.phases == on_cpu.phases);
  CHECK(on_device.in_order);
  CHECK(on_device.has_costs);
}

TEST_CASE("bf16 with masters trains on streams, too") {
  const VerifyResult result = verify(scenario_of({"1f1b", 1, 1, 2}, "bf16"), on_gpu(0));
  INFO(to_text(result));
  CHECK(result.passed);
}

TEST_CASE("a resnet over two stages trains on streams as on one rank, with the losses of the CPU") {
  Scenario scenario = scenario_of({"1f1b", 1, 1, 2});
  scenario.model = {.kind = "resnet", .layers = 4, .width = 4, .image = 40, .classes = 5};
  const VerifyResult result = verify(scenario, on_gpu());
  INFO(to_text(result));
  CHECK(result.passed);
  Told on_cpu, on_device;
  run_told(scenario, {}, 2, on_cpu);
  run_told(scenario, on_gpu(0), 2, on_device);
  REQUIRE(on_device.losses.size() == 2);
  for (const auto& [step, loss] : on_cpu.losses) CHECK(on_device.losses.at(step) == Approx(loss).epsilon(1e-4));
}

TEST_CASE("nothing is reserved on the device once the first step has begun, and no event is waited for too early") {
  const StepProgram step = compile(scenario_of({"1f1b", 2, 1, 2}));
  RunSettings settings = on_gpu(0);
  std::mutex mutex;
  std::map<int, std::array<std::uint64_t, 2>> reserved;
  run_loopback(
      step, settings, [](int) { return nullptr; },
      [&](RankRun& run, int rank) {
        run.run(0, 1);  // no rank is in its second step before all have made what they need
        const std::uint64_t before = emulated::counts().allocations;
        run.run(1, 2);
        const std::lock_guard lock(mutex);
        reserved[rank] = {before, emulated::counts().allocations};
      });
  for (const auto& [rank, counts] : reserved) CHECK(counts[0] == counts[1]);
  CHECK(emulated::counts().waits > 0);
  CHECK(emulated::counts().waits_for_nothing == 0);
}

namespace {

/// Events that a rank alone records in a step.
double events_of_a_step(const StepProgram& step, RankObserver* observer) {
  constexpr std::uint32_t steps = 8;
  std::uint64_t events = 0;
  RunSettings settings = on_gpu(0);
  settings.stress = {};  // it has events of its own
  run_loopback(
      step, settings, [&](int) { return observer; },
      [&](RankRun& run, int) {
        run.run(0, 1);
        const std::uint64_t before = emulated::counts().events;
        run.run(1, steps);
        events = emulated::counts().events - before;
      });
  return static_cast<double>(events) / steps;
}

class Blind : public Told {
 public:
  bool observes() const override { return false; }
};

}  // namespace

TEST_CASE("a step records one event for each of its ops, and where nobody observes only those that lanes wait for") {
  const StepProgram step = compile(scenario_of({"1f1b"}));
  const RankProgram program = step.program_for(0);
  double ops = 0;
  std::set<OpIndex> needed;
  for (OpIndex i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    ops += is_on_host(op.lane()) ? 0 : 1;
    for (const auto& list : {op.after, op.after_previous})
      for (const OpIndex before : list)
        if (program.ops[before].lane() != op.lane()) needed.insert(before);
  }
  for (const auto& lane : program.lanes())
    if (!lane.empty()) needed.insert(lane.back());
  constexpr double clock_fits = 3;  // of four events each, over eight steps: at the begin, and one a second
  Told told;
  const double observed = events_of_a_step(step, &told);
  CHECK(observed >= ops);
  CHECK(observed <= ops + clock_fits);
  CHECK(told.in_order);
  const double unobserved = events_of_a_step(step, nullptr);
  CHECK(unobserved <= static_cast<double>(needed.size()));
  CHECK(unobserved >= 1);
  CHECK(unobserved < 0.5 * ops);
  Blind blind;
  CHECK(events_of_a_step(step, &blind) == unobserved);
  CHECK(blind.spans == 0);
}

TEST_CASE("an op on a queue begins when the ops that it comes after have ended, though no event says so") {
  const StepProgram step = compile(scenario_of({"1f1b", 1, 1, 2}));
  struct Kept : Told {
    void span(Lane lane, const Span& span) override {
      Told::span(lane, span);
      const std::lock_guard lock(mutex);
      spans_of[{span.rank, span.step}][span.op] = span;
    }
    std::mutex mutex;
    std::map<std::pair<int, std::uint32_t>, std::map<OpId, Span>> spans_of;
  } kept;
  RunSettings settings = on_gpu();
  settings.steps = 3;
  run_loopback(step, settings, [&](int) { return &kept; });
  const std::int64_t error = 2 * settings.platform->device->clock_uncertainty_ns();
  int edges = 0;
  for (const auto& [where, spans] : kept.spans_of) {
    const RankProgram program = step.program_for(where.first);
    for (const Op& op : program.ops) {
      const Span& span = spans.at(op.id);
      INFO(to_token(op.id) << " of rank " << where.first << " in step " << where.second);
      for (const OpIndex before : op.after) {
        ++edges;
        CHECK(span.begin_ns >= spans.at(program.ops[before].id).end_ns - error);
      }
    }
  }
  CHECK(edges > 50);
  CHECK(kept.in_order);
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

  constexpr std::int64_t code = 3 << 20;  // that a kernel's first launch would load
  Told told;
  std::int64_t used = 0;
  run_loopback(
      step, settings, [&](int) { return &told; },
      [&](RankRun& run, int) {
        emulated::take(code);
        run.run(0, 1);
        used = kernels::cuda_used_bytes();
        run.run(1, 2);
      });
  const ClassBytes& peaks = told.peaks.at(0);
  const auto told_of = [&](MemoryClass memory) { return peaks[static_cast<std::size_t>(memory)]; };
  CHECK(told_of(MemoryClass::workspace) == programs.front().scratch_bytes);
  // What is reserved beside a program (tables of addresses, the step's scalars) is in the context, too: little.
  CHECK(told_of(MemoryClass::context) >= context + code);
  CHECK(told_of(MemoryClass::context) < context + code + (64 << 10));
  CHECK(told.peak.at(0) <= used);
  CHECK(static_cast<double>(told.peak.at(0) - context - code) > 0.9 * static_cast<double>(used - context - code));
  emulated::take(-code);
}

TEST_CASE("the predicted context is the one that the cluster's file states") {
  Scenario scenario = scenario_of({"1f1b"});
  scenario.cluster.context_bytes = 1.5e9;
  const StepProgram step = compile(scenario);
  std::vector<RankProgram> programs = step.all_programs();
  set_scratch(step, programs, *on_gpu(0).platform);
  CHECK(programs.front().context_bytes == 1'500'000'000);
  // Where processes share the device, what it has taken is nobody's context in particular.
  Platform shared = *on_gpu(0).platform;
  CHECK(shared.context_bytes() > 0);
  shared.is_alone = false;
  CHECK(shared.context_bytes() == 0);
  std::vector<RankProgram> on_cpu = step.all_programs();
  set_scratch(step, on_cpu, *open_platform("cpu"));
  CHECK(on_cpu.front().context_bytes == 0);
}

// Hidden: run by the next test in a process of its own.
TEST_CASE("the plan on streams whose edges the environment selects", "[.][edges]") {
  RunSettings settings = on_gpu();
  const char* missing = std::getenv("RANKSCOPE_TEST_EDGES_MISSING");
  emulated::set_pace({.seed = 7, .greatest_delay_us = greatest_delay_us, .ignores_waits = missing != nullptr});
  CHECK_FALSE(is_wrong(scenario_of({"1f1b", 1, 1, 2}), settings));
}

// A kernel that does not wait for its operands may read token numbers that nobody has written, and crash: that is a
// training that is not the same, too.
TEST_CASE("without the edges between streams, plans do not train the same model") {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto trains_the_same = [&](const std::string& environment) {
    return std::system((environment + " '" + self + "' '[edges]' > /dev/null 2>&1").c_str()) == 0;
  };
  CHECK(trains_the_same(""));
  CHECK_FALSE(trains_the_same("RANKSCOPE_TEST_EDGES_MISSING=1"));
}

TEST_CASE("an edge that is missing in a program shows on streams as it does on threads") {
  Scenario scenario = scenario_of({"1f1b", 4, 1, 1, 3});
  scenario.fault.plant = "early_gather_read";
  RunSettings settings = on_gpu();
  settings.stress.greatest_delay_ns = 2'000'000;  // of gathers, too: who does not wait for them is early
  CHECK(is_wrong(scenario, settings));
}

TEST_CASE("the host cannot access the device's memory") {
  const auto device = kernels::cuda_device(0);
  const Memory memory = device->reserve(64);
  CHECK(status_of_child([] {}) == 0);
  CHECK(status_of_child([&] { _exit(static_cast<int>(*reinterpret_cast<volatile char*>(memory.get()))); }) == -SIGSEGV);
}

TEST_CASE("a wait for an event that was never recorded returns at once, so the engine has none") {
  kernels::DeviceStream stream;
  const kernels::DeviceEvent never;
  const std::uint64_t before = emulated::counts().waits_for_nothing;
  stream.wait_for(never);
  stream.synchronise();
  CHECK(emulated::counts().waits_for_nothing == before + 1);
}

TEST_CASE("fp16 with a loss scale trains on streams, on the host's lane too, and over ranks") {
  const Plan plan =
      GENERATE(Plan{"1f1b", 1, 1, 2}, Plan{"1f1b", 2, 1, 1, 2}, Plan{"1f1b", 2, 1, 1, 1, "auto", "optimizer"});
  const VerifyResult result = verify(scenario_of(plan, "fp16"), on_gpu());
  INFO(text_of(plan) << "\n" << to_text(result));
  CHECK(result.passed);
}

TEST_CASE("a GPU skips the step that overflows, halves the loss scale, and reports the CPU's norms") {
  Scenario scenario = scenario_of({"1f1b", 2, 1, 1}, "fp16");
  scenario.train.optimizer = "adamw";
  scenario.train.loss_scale = 1024;
  scenario.train.loss_scale_window = 2;
  scenario.fault.plant = "overflow";
  Told on_cpu, on_device;
  run_told(scenario, {}, 5, on_cpu);
  run_told(scenario, on_gpu(), 5, on_device);
  REQUIRE(on_cpu.scales.size() == 5);
  CHECK(on_device.scales == on_cpu.scales);
  std::set<double> different;
  for (const auto& [step, scale] : on_cpu.scales) different.insert(scale);
  CHECK(different.size() > 1);
  for (const auto& [step, loss] : on_cpu.losses) CHECK(on_device.losses.at(step) == Approx(loss).epsilon(2e-2));
  for (const auto& [step, square] : on_cpu.square_norm) {
    INFO("step " << step);
    CHECK(std::isfinite(square) == std::isfinite(on_device.square_norm.at(step)));
    if (std::isfinite(square)) CHECK(on_device.square_norm.at(step) == Approx(square).epsilon(4e-2));
  }
}

TEST_CASE("asynchronous servers on streams do what a serial replay of their arrivals does") {
  struct Case {
    int workers, servers;
    const char* precision;
  };
  const auto [workers, servers, precision] = GENERATE(Case{2, 1, "fp64"}, Case{3, 2, "bf16"});
  Scenario scenario =
      scenario_of({"1f1b", workers, 1, 1, 0, "auto", "none", "none", false, "parameter-server"}, precision);
  scenario.plan.servers = servers;
  scenario.plan.staleness = 4;
  scenario.train.clip = 0;
  INFO(workers << " workers, " << servers << " servers, " << precision);
  RunSettings settings = on_gpu();
  std::atomic<bool> late{true};
  settings.comm.before = [&late](int rank, Lane lane, const char*) {  // the others are all their steps ahead meanwhile
    if (rank == 1 && lane == Lane::server && late.exchange(false)) std::this_thread::sleep_for(500ms);
  };
  const VerifyResult result = verify(scenario, settings);
  INFO(to_text(result));
  CHECK(result.replayed);
  CHECK(result.passed);
}

TEST_CASE("a fault of one worker is found by the replay of an asynchronous server on streams") {
  Scenario scenario = scenario_of({"1f1b", 2, 1, 1, 0, "auto", "none", "none", false, "parameter-server"});
  scenario.plan.staleness = 1;
  scenario.train.clip = 0;
  scenario.fault.plant = "gradient_scale";
  CHECK(is_wrong(scenario, on_gpu()));
}

TEST_CASE("a rank runs on its platform's GPU, whatever device its thread used before") {
  const StepProgram step = compile(scenario_of({"1f1b"}));
  const std::unique_ptr<Dataset> dataset = open_dataset(step.scenario);
  on_gpu(0);
  const auto platform = open_platform("cuda", 1, 2);
  std::string failure;
  int first = -1;
  Told told;
  std::thread([&] {
    first = kernels::current_cuda_device();
    try {
      RankSettings settings(step);
      settings.platform = platform;
      settings.dataset = dataset.get();
      settings.observer = &told;
      settings.start_ns = monotonic_ns();
      RankRun(std::move(settings), 0).run(0, 2);
    } catch (const std::exception& error) {
      failure = error.what();
    }
  }).join();
  CHECK(first == 0);
  CHECK(failure == "");
  CHECK(told.losses.size() == 2);
}

TEST_CASE("a GPU that is not there is refused by its number") {
  CHECK_NOTHROW(open_platform("cuda", 1, 3));
  CHECK_THROWS_AS(open_platform("cuda", 1, 4), DeviceError);
  CHECK_THROWS_WITH(open_platform("cuda", 1, 4),
                    "the device 'cuda' cannot be used here: there is no GPU number 4 among 4");
  CHECK_THROWS_AS(open_platform("cuda", 1, -1), DeviceError);
}

TEST_CASE("an op that a GPU cannot run yet is refused by name") {
  const Scenario scenario = scenario_of({"1f1b", 2, 1, 1, 0, "auto", "none", "none", false, "main-device"}, "fp16");
  CHECK_THROWS_WITH(verify(scenario, on_gpu(0)),
                    ContainsText("plan.precision = \"fp16\" with plan.data_parallel = \"main-device\" does not run"));
}
