// The executor's order on the wall clock: ops sleep for their costs, so any number of ranks keeps real time on two
// cores.
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "engine/base/host/clock.hpp"
#include "engine/execute/run/job.hpp"
#include "engine/explain/analyse/step_analysis.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "tests/catch.hpp"
#include "tests/judged.hpp"
#include "tests/slowness.hpp"

using namespace rankscope;
using namespace std::chrono_literals;
using rankscope::test::slowness;

namespace {

class SpanRecorder : public RankObserver {
 public:
  void span(Lane, const Span& span) override {
    const std::lock_guard lock(mutex_);
    spans.push_back(span);
  }
  void memory(Lane, const MemorySample&) override {}
  void phase(Lane, const PhaseSpan&) override {}
  void step_done(const StepSummary& summary, const StepTrace& trace) override {
    const std::lock_guard lock(mutex_);
    if (summary.step == 0) executed[summary.rank] = trace.executed;
  }
  std::vector<Span> spans;
  std::map<int, std::array<std::vector<OpIndex>, lane_count>> executed;

 private:
  std::mutex mutex_;
};

Scenario balanced(std::string schedule, int data, int pipeline, int micro_batches) {
  Scenario s;
  s.title = "sleep";
  s.model = {"gpt", std::max(pipeline, 4), 16, 2, 8, 32, false, 0.0};
  s.plan.data = data;
  s.plan.pipeline = pipeline;
  s.plan.schedule = std::move(schedule);
  s.plan.micro_batches = micro_batches;
  s.train.global_batch = data * micro_batches;
  s.train.optimizer = "sgd";
  return s;
}

/// Runs the step with a forward of `unit` and a backward of twice `unit` on every stage.
void run_asleep(const StepProgram& step, std::chrono::nanoseconds unit, std::uint32_t steps, RankObserver& observer,
                CommOptions comm = {}) {
  RunSettings settings;
  settings.device = "sleep";
  settings.steps = steps;
  settings.start_ns = monotonic_ns();
  settings.comm = std::move(comm);
  settings.sleep_cost_ns = unit_costs(step.model, step.first_segment, unit.count()).compute_ns;
  run_loopback(step, settings, [&](int) { return &observer; });
}

constexpr double bubble_tolerance = 0.03;

/// Threads that sleep and measure how late they wake up: whether the machine is quiet enough for wall-clock times. This
/// does not use the engine.
class Lateness {
 public:
  explicit Lateness(std::chrono::nanoseconds length) {
    for (int i = 0; i < 4; ++i)
      team_.emplace_back([this, length](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          const auto begin = std::chrono::steady_clock::now();
          std::this_thread::sleep_for(length);
          late_ns_ += (std::chrono::steady_clock::now() - begin - length).count();
          ++sleeps_;
        }
      });
  }
  double mean_ns() const { return static_cast<double>(late_ns_) / static_cast<double>(std::max(1L, sleeps_.load())); }

 private:
  std::atomic<std::int64_t> late_ns_ = 0;
  std::atomic<long> sleeps_ = 0;
  std::vector<std::jthread> team_;
};

/// If threads wake up later than this share of an op, the machine gave its processors to other programs, and the step's
/// wall-clock time is not judged.
constexpr double too_late = 0.01;
constexpr int most_attempts = 8;

/// Repeats a sleeping step until the machine was quiet during one and its bubble is the ideal one. A single op that
/// wakes up late changes the bubble, and the lateness of other threads does not always show it. The order of each
/// step's lanes is always checked. At first, ops become longer with each attempt, so that late wake-ups matter less;
/// then the test waits between attempts, because the host is busy.
void check_bubble_asleep(const StepProgram& step, std::chrono::nanoseconds unit, const std::string& what) {
  const double ideal = ideal_bubble(step.schedule);
  const auto programs = step.all_programs();
  double share = 0;
  std::vector<double> bubbles;  // of quiet steps
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    if (attempt > 0 && attempt < 4) unit *= 2;
    if (attempt >= 4) std::this_thread::sleep_for(500ms);
    SpanRecorder recorder;
    {
      const Lateness lateness(unit / 4);
      run_asleep(step, unit, 1, recorder);
      share = lateness.mean_ns() / static_cast<double>(unit.count());
    }
    for (const RankProgram& program : programs) CHECK(recorder.executed[program.rank] == program.lanes());
    if (share > too_late) continue;
    bubbles.push_back(analyse_step(programs, step.grid, recorder.spans, step_range(recorder.spans, 0), 0).bubble);
    if (bubbles.back() == Approx(ideal).margin(bubble_tolerance)) return;
  }
  CAPTURE(bubbles, ideal);
  if (bubbles.size() >= 3) FAIL("no step had the ideal bubble of " + what);
  test::not_judged("the bubble of " + what + ": this machine wakes threads late, by " + std::to_string(100 * share) +
                   " % of an op");
}

}  // namespace

TEST_CASE("with sleeping ops the wall clock shows the theoretical bubble, and lanes run in program order") {
  const auto* schedule = GENERATE("naive", "gpipe", "1f1b");
  const int p = GENERATE(4, 8, 16);
  const StepProgram step = compile(balanced(schedule, 1, p, 8));
  // naive takes 3·p·m units, the others 3·(m+p-1): keep each case near half a second
  const std::chrono::nanoseconds unit = std::string_view(schedule) == "naive" ? slowness * 3ms : slowness * 8ms;
  INFO(schedule << " on " << p << " ranks");
  check_bubble_asleep(step, unit, std::string(schedule) + " on " + std::to_string(p) + " ranks");
}

TEST_CASE("with sleeping ops interleaved and zero-bubble schedules have the theoretical bubble, too") {
  const auto* schedule = GENERATE("interleaved", "zb-h1", "zb-h2", "zb-2p", "zb-v");
  const int p = GENERATE(4, 8);
  Scenario scenario = balanced(schedule, 1, p, 8);
  if (const std::string_view name = schedule; name == "interleaved" || name == "zb-v") scenario.plan.virtual_stages = 2;
  scenario.model.layers = scenario.plan.chunks();
  const StepProgram step = compile(scenario);
  INFO(schedule << " on " << p << " ranks");
  // Almost nothing is idle, so one late wake-up delays all ranks: longer units reduce its effect.
  check_bubble_asleep(step, slowness * (scenario.plan.virtual_stages == 2 ? 5ms : 10ms),
                      std::string(schedule) + " on " + std::to_string(p) + " ranks");
}

TEST_CASE("an executor that shuffles ready ops is detected by its order and bubble") {
  // Ready forwards run before ready backwards, and the last micro-batch before the first: all dependencies are
  // satisfied.
  StepProgram step = compile(balanced("1f1b", 1, 4, 8));
  const auto honest = step.all_programs();
  for (auto& order : step.schedule.order) {
    std::vector<OpId> forwards, backwards;
    for (const OpId id : order) (id.kind() == OpKind::forward ? forwards : backwards).push_back(id);
    std::vector<OpId> shuffled;
    for (std::size_t i = 0; i < forwards.size(); i += 2) {  // F0 F1 B0 B1: two at a time on every stage
      for (const std::size_t k : {i, i + 1}) shuffled.push_back(forwards[k]);
      for (const std::size_t k : {i, i + 1}) shuffled.push_back(backwards[k]);
    }
    order = shuffled;
  }
  SpanRecorder recorder;
  run_asleep(step, slowness * 4ms, 1, recorder);
  const auto programs = step.all_programs();
  const StepAnalysis analysis = analyse_step(programs, step.grid, recorder.spans, step_range(recorder.spans, 0), 0);
  CHECK(analysis.bubble > ideal_bubble(compile(balanced("1f1b", 1, 4, 8)).schedule) + 0.03);
  CHECK(to_text(programs[0]) != to_text(honest[0]));
}

TEST_CASE("a slow all-reduce that the backward covers does not lengthen the step") {
  Scenario scenario = balanced("1f1b", 2, 1, 1);
  scenario.plan.bucket_mib = 0.01;  // several buckets: the first is complete early in the backward
  const StepProgram step = compile(scenario);
  const auto programs = step.all_programs();
  const auto reduces = std::count_if(programs[0].ops.begin(), programs[0].ops.end(),
                                     [](const Op& op) { return op.id.fields().purpose == Purpose::data_gradient; });
  REQUIRE(reduces >= 3);
  const auto seconds_with_delay_of = [&](int which) {
    std::array<std::atomic<int>, 2> calls{};
    CommOptions comm;
    comm.before = [&, which](int rank, Lane lane, const char*) {
      if (lane == Lane::data && calls[static_cast<std::size_t>(rank)]++ == which)
        std::this_thread::sleep_for(slowness * 20ms);
    };
    SpanRecorder recorder;
    run_asleep(step, slowness * 40ms, 1, recorder, comm);  // a forward of two delays, a backward of four
    return static_cast<double>(step_range(recorder.spans, 0).length()) * 1e-9;
  };
  // Other programs can only make a step longer, so the shortest of several runs is the true time.
  double undelayed = 1e9, covered = 1e9, exposed = 1e9;
  const auto is_covered = [&] { return covered < undelayed + slowness * 0.008; };
  const auto is_exposed = [&] { return exposed > undelayed + slowness * 0.012; };
  for (int attempt = 0; attempt < 12 && (attempt == 0 || !is_covered() || !is_exposed()); ++attempt) {
    undelayed = std::min(undelayed, seconds_with_delay_of(-1));
    covered = std::min(covered, seconds_with_delay_of(0));  // the first bucket's delay
    // The delay of the last one: there is no compute left to hide it.
    exposed = std::min(exposed, seconds_with_delay_of(static_cast<int>(reduces) - 1));
  }
  INFO("undelayed " << undelayed << " s, covered " << covered << " s, exposed " << exposed << " s");
  CHECK(is_covered());
  CHECK(is_exposed());
}
