// How accurate is the device clock? Three comparisons in one run, on a machine that should be otherwise idle:
//
//   1. the bubble of the default lab, emulated, with the prediction from before the run
//   2. the step time of two ranks, emulated, with the wall clock's (needs two free cores)
//   3. the step time of eight ranks, emulated, with the one laid out from costs that were measured one rank at a time
//
//   device_clock_bench [SCENARIO]      the lab of comparison 1; the others change its plan
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "engine/base/host/clock.hpp"
#include "engine/execute/run/core_ticks.hpp"
#include "engine/execute/run/emulated_clock.hpp"
#include "engine/execute/run/job.hpp"
#include "engine/explain/analyse/step_analysis.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/cost/calibration.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "engine/predict/network/link.hpp"
#include "engine/prove/calibrate/calibrate.hpp"

namespace {

using namespace rankscope;

constexpr std::uint32_t steps = 24, warm_up = 6;

template <class T>
T median_of(std::vector<T> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

class Recorder : public RankObserver {
 public:
  explicit Recorder(EmulatedClock& clock) : clock_(clock) {}
  void span(Lane, const Span& span) override {
    const std::lock_guard lock(mutex_);
    measured.push_back(span);
  }
  void memory(Lane, const MemorySample&) override {}
  void phase(Lane, const PhaseSpan&) override {}
  void step_done(const StepSummary& summary, const StepTrace& trace) override {
    clock_.step_done(summary.rank, summary.step, trace);
  }
  std::vector<Span> measured;

 private:
  EmulatedClock& clock_;
  std::mutex mutex_;
};

struct Clocks {
  double wall_s = 0, device_s = 0;  ///< median step
  double bubble = 0;                ///< median, emulated
};

Clocks run(const StepProgram& step) {
  const std::vector<RankProgram> programs = step.all_programs();
  Costs links;
  links.link = [cluster = step.scenario.cluster](int from, int to) { return cluster_link(cluster, from, to); };
  std::vector<Span> emulated, measured;
  {
    EmulatedClock clock(programs, step.grid, links, step.scenario.fault,
                        [&](const std::vector<Span>& spans, const std::vector<MemorySample>&) {
                          emulated.insert(emulated.end(), spans.begin(), spans.end());
                        });
    Recorder recorder(clock);
    RunSettings settings;
    settings.steps = steps;
    settings.start_ns = monotonic_ns();
    run_loopback(step, settings, [&](int) { return &recorder; });
    measured = std::move(recorder.measured);
  }
  std::vector<double> wall, device, bubbles;
  for (std::uint32_t s = warm_up; s + 1 < steps; ++s) {
    wall.push_back(static_cast<double>(step_range(measured, s).length()) * 1e-9);
    const TimeRange range = step_range(emulated, s);
    device.push_back(static_cast<double>(range.length()) * 1e-9);
    bubbles.push_back(analyse_step(programs, step.grid, emulated, range, s).bubble);
  }
  return {median_of(wall), median_of(device), median_of(bubbles)};
}

StepProgram changed(const Scenario& scenario, int pipeline, int micro_batches) {
  Scenario other = scenario;
  other.plan.pipeline = pipeline;
  other.plan.micro_batches = micro_batches;
  return compile(other);
}

/// A comparison runs in rounds, its two sides in turn, until `quiet_rounds` of them were quiet: other programs used
/// less than `disturbing_share` of the cores. The median of the quiet rounds is the result. Most rounds may be
/// disturbed; with too few quiet ones there is no result.
constexpr std::size_t quiet_rounds = 5, most_rounds = 15;

struct Pair {
  double a = 0, b = 0, off = 0;
};

template <class Compare>
void verdict(const char* what, const char* a_name, const char* b_name, double limit, Compare compare) {
  std::vector<Pair> pairs;
  std::size_t rounds = 0;
  for (; rounds < most_rounds && pairs.size() < quiet_rounds; ++rounds) {
    const auto before = CoreTicks::now();
    const Pair pair = compare();
    if (before.taken_since() <= disturbing_share) pairs.push_back(pair);
  }
  if (pairs.size() < quiet_rounds) {
    fmt::print("{:<24} not judged: of {} rounds {} were quiet, {} are wanted\n", what, rounds, pairs.size(),
               quiet_rounds);
    return;
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) { return x.off < y.off; });
  const Pair& middle = pairs[quiet_rounds / 2];
  fmt::print("{:<24} {} {:.4g}   {} {:.4g}   difference {:.3f} ({:.3f} to {:.3f}; limit {:.2f}) {}\n", what, a_name,
             middle.a, b_name, middle.b, middle.off, pairs.front().off, pairs.back().off, limit,
             middle.off <= limit ? "ok" : "OVER");
  std::fflush(stdout);
}

/// Seconds of a step of these programs, laid out from costs that were measured one rank at a time.
double step_from_costs_alone(const StepProgram& step, const std::vector<RankProgram>& programs) {
  std::vector<CostSample> samples;
  for (const RankProgram& program : programs)
    for (const CostSample& sample : measure_alone(step, program.rank, 8)) samples.push_back(sample);
  Costs alone = calibrated_costs(calibrate(programs, samples, {}), modelled_costs(step.scenario, step.model));
  alone.link = [cluster = step.scenario.cluster](int from, int to) { return cluster_link(cluster, from, to); };
  return analyse_simulation(programs, step.grid, simulate(programs, step.grid, alone, 2)).seconds();
}

}  // namespace

int main(int argc, char** argv) {
  const Scenario lab = read_scenario(argc > 1 ? argv[1] : RANKSCOPE_SOURCE_DIR "/scenarios/labs/pipeline-1f1b.toml");
  {
    const StepProgram step = compile(lab);
    const auto programs = step.all_programs();
    verdict("bubble of the lab", "predicted", "emulated", 0.03, [&] {
      const double predicted =
          analyse_simulation(programs, step.grid, simulate(programs, step.grid, predict_costs(step), 2)).bubble;
      const double emulated = run(step).bubble;
      return Pair{predicted, emulated, std::abs(emulated - predicted)};
    });
  }
  {
    const StepProgram step = compile(lab);
    const auto programs = step.all_programs();
    verdict("step of the lab, s", "predicted", "emulated", 0.10, [&] {
      const double predicted =
          analyse_simulation(programs, step.grid, simulate(programs, step.grid, predict_costs(step), 2)).seconds();
      const double emulated = run(step).device_s;
      return Pair{predicted, emulated, std::abs(predicted / emulated - 1)};
    });
  }
  {
    const StepProgram step = changed(lab, 2, lab.plan.micro_batches);
    verdict("step of two ranks, s", "device", "wall", 0.10, [&] {
      const Clocks clocks = run(step);
      return Pair{clocks.device_s, clocks.wall_s, std::abs(clocks.device_s / clocks.wall_s - 1)};
    });
  }
  {
    const StepProgram step = changed(lab, 8, lab.plan.micro_batches);
    const auto programs = step.all_programs();
    verdict("step of eight ranks, s", "device", "measured alone", 0.10, [&] {
      // Before and after the run, because the machine's speed drifts while it warms up and cools down.
      const double before = step_from_costs_alone(step, programs);
      const double device = run(step).device_s;
      const double laid_out = (before + step_from_costs_alone(step, programs)) / 2;
      return Pair{device, laid_out, std::abs(device / laid_out - 1)};
    });
  }
  return 0;
}
