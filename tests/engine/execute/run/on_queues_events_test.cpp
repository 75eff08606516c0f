// The events of a GPU's streams: how many are recorded, which waits use them, and when ops begin.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "kernels/cuda/device.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/run/on_queues.hpp"

using namespace rankscope;
using namespace rankscope::on_queues;

namespace {

/// Number of events per step of a single rank, and at most how many of them fit the device's clock: four at the begin,
/// and four once per second.
struct Events {
  double count = 0, of_clock = 0;
};
Events events_of_a_step(const StepProgram& step, RankObserver* observer) {
  constexpr std::uint32_t steps = 8;
  std::uint64_t events = 0;
  std::chrono::duration<double> took{};
  RunSettings settings = on_gpu(0);
  settings.stress = {};  // stress would add its own events
  run_loopback(
      step, settings, [&](int) { return observer; },
      [&](RankRun& run, int) {
        run.run(0, 1);
        const std::uint64_t before = emulated::counts().events;
        const auto begin = std::chrono::steady_clock::now();
        run.run(1, steps);
        took = std::chrono::steady_clock::now() - begin;
        events = emulated::counts().events - before;
      });
  return {static_cast<double>(events) / steps, 4 * (1 + took.count()) / steps};
}

class UnusedReports : public RunReports {
 public:
  bool observes() const override { return false; }
};

}  // namespace

TEST_CASE("a step records one event for each of its ops, and without an observer only those that lanes wait for") {
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
  RunReports reports;
  const Events observed = events_of_a_step(step, &reports);
  CHECK(observed.count >= ops);
  CHECK(observed.count <= ops + observed.of_clock);
  CHECK(reports.in_order);
  const double unobserved = events_of_a_step(step, nullptr).count;
  CHECK(unobserved <= static_cast<double>(needed.size()));
  CHECK(unobserved >= 1);
  CHECK(unobserved < 0.5 * ops);
  UnusedReports unused;
  CHECK(events_of_a_step(step, &unused).count == unobserved);
  CHECK(unused.spans == 0);
}

TEST_CASE("an op on a queue begins when the ops that it depends on have ended, even without an event") {
  const StepProgram step = compile(scenario_of({"1f1b", 1, 1, 2}));
  struct Kept : RunReports {
    void span(Lane lane, const Span& span) override {
      RunReports::span(lane, span);
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

TEST_CASE("a wait for an event that was never recorded returns at once, so the engine has none") {
  kernels::DeviceStream stream;
  const kernels::DeviceEvent never;
  const std::uint64_t before = emulated::counts().waits_for_nothing;
  stream.wait_for(never);
  stream.synchronise();
  CHECK(emulated::counts().waits_for_nothing == before + 1);
}

// Hidden: the next test runs it in its own process.
TEST_CASE("the plan on streams whose edges the environment selects", "[.][edges]") {
  RunSettings settings = on_gpu();
  const char* missing = std::getenv("RANKSCOPE_TEST_EDGES_MISSING");
  emulated::set_pace({.seed = 7, .greatest_delay_us = greatest_delay_us, .ignores_waits = missing != nullptr});
  CHECK_FALSE(is_wrong(scenario_of({"1f1b", 1, 1, 2}), settings));
}

// A kernel that does not wait for its operands may read uninitialised token numbers, and crash. A crash also means that
// the training is not the same.
TEST_CASE("without the edges between streams, plans do not train the same model") {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto trains_the_same = [&](const std::string& environment) {
    return std::system(
               (environment + " '" + self + "' -# '[edges][#on_queues_events_test]' > /dev/null 2>&1").c_str()) == 0;
  };
  CHECK(trains_the_same(""));
  CHECK_FALSE(trains_the_same("RANKSCOPE_TEST_EDGES_MISSING=1"));
}

TEST_CASE("a missing edge in a program is detected on streams as on threads") {
  Scenario scenario = scenario_of({"1f1b", 2, 1, 1, 3});
  scenario.fault.plant = "early_gather_read";
  RunSettings settings = on_gpu();
  settings.stress.greatest_delay_ns = 2'000'000;  // also of gathers: an op that does not wait for them is too early
  CHECK(is_wrong(scenario, settings));
}
