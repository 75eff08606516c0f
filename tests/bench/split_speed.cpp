// One model on two cores: complete on one rank with two threads, or split over two ranks with one thread each, by data,
// tensor and pipeline parallelism. Prints wall tokens/s, the ratio to the one rank in the same run, and how a rank's
// step time is divided.
//
//   split_speed [--types fp32,bf16] [--steps 6] [--rounds 3]
//
// Each round runs all plans in turn, so that a slow phase of the machine affects all; figures are medians over rounds.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

#include "engine/base/host/clock.hpp"
#include "engine/execute/run/job.hpp"

using namespace rankscope;

namespace {

struct Plan {
  const char* name;
  int data, tensor, pipeline, threads, micro_batches;
};
// Four micro-batches on two stages: a bubble of (p-1)/(m+p-1), 20 %.
constexpr Plan plans[] = {{"one rank, 2 threads", 1, 1, 1, 2, 1},
                          {"one rank, 4 micro-batches", 1, 1, 1, 2, 4},
                          {"data 2", 2, 1, 1, 1, 1},
                          {"tensor 2", 1, 2, 1, 1, 1},
                          {"pipeline 2, 1f1b, 4 micro-b.", 1, 1, 2, 1, 4}};

Scenario scenario_of(const Plan& plan, const std::string& precision) {
  Scenario s;
  s.model = {"gpt", 6, 384, 6, 256, 256, true, 0.0};
  s.plan.data = plan.data;
  s.plan.tensor = plan.tensor;
  s.plan.pipeline = plan.pipeline;
  s.plan.micro_batches = plan.micro_batches;
  s.plan.precision = precision;
  s.train.global_batch = 8;
  return s;
}

/// CPU or wall nanoseconds of the ranks' lanes, summed over all ranks and steps.
struct Parts : RankObserver {
  void span(Lane lane, const Span& span) override {
    if (span.step < first) return;
    const std::lock_guard lock(mutex);
    const OpKind kind = span.op.kind();
    const auto wall = static_cast<double>(span.end_ns - span.begin_ns);
    if (kind == OpKind::optimizer)
      optimizer += wall;
    else if (lane == Lane::compute)
      compute += wall;
    else if (is_communication(kind))
      moving += static_cast<double>(span.end_ns - span.active_ns);
  }
  void memory(Lane, const MemorySample&) override {}
  void phase(Lane, const PhaseSpan&) override {}
  void step_done(const StepSummary&, const StepTrace&) override {}
  std::uint32_t first = 0;
  std::mutex mutex;
  double compute = 0, optimizer = 0, moving = 0;
};

struct Measured {
  std::vector<double> seconds;                    ///< of a step, by round
  double compute = 0, optimizer = 0, moving = 0;  ///< seconds of a rank and step, the last round's
};

double median_of(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void measure(const Plan& plan, const std::string& precision, std::uint32_t steps, Measured& into) {
  const StepProgram step = compile(scenario_of(plan, precision));
  constexpr std::uint32_t warm_up = 2;
  Parts parts;
  parts.first = warm_up;
  RunSettings settings;
  settings.threads_per_rank = plan.threads;
  std::mutex mutex;
  double longest = 0;
  run_loopback(
      step, settings, [&](int) { return &parts; },
      [&](RankRun& run, int) {
        run.run(0, warm_up);
        const std::int64_t begin = monotonic_ns();
        run.run(warm_up, steps);
        const std::lock_guard lock(mutex);
        longest = std::max(longest, static_cast<double>(monotonic_ns() - begin) * 1e-9);
      });
  into.seconds.push_back(longest / steps);
  const double share = 1e-9 / (static_cast<double>(steps) * step.grid.size());
  into.compute = parts.compute * share;
  into.optimizer = parts.optimizer * share;
  into.moving = parts.moving * share;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> types{"fp32", "bf16"};
  std::uint32_t steps = 6;
  int rounds = 3;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--types")) {
      types.clear();
      std::istringstream in(argv[i + 1]);
      for (std::string type; std::getline(in, type, ',');) types.push_back(type);
    } else if (!std::strcmp(argv[i], "--steps")) {
      steps = static_cast<std::uint32_t>(std::max(1, std::atoi(argv[i + 1])));
    } else if (!std::strcmp(argv[i], "--rounds")) {
      rounds = std::max(1, std::atoi(argv[i + 1]));
    }
  }
  for (const std::string& type : types) {
    std::map<std::string, Measured> measured;
    for (int round = 0; round < rounds; ++round)
      for (const Plan& plan : plans) measure(plan, type, steps, measured[plan.name]);
    const double one = median_of(measured.at(plans[0].name).seconds);
    fmt::print("{}: 6 layers, 384 wide, 256 context, batch 8; times of a rank and step in ms\n", type);
    fmt::print("  {:<28} {:>8} {:>6} {:>8} {:>8} {:>9} {:>7} {:>8}\n", "plan", "tokens/s", "ratio", "step", "compute",
               "optimizer", "moving", "waiting");
    for (const Plan& plan : plans) {
      const Measured& m = measured.at(plan.name);
      const double seconds = median_of(m.seconds);
      const double waiting = std::max(0.0, seconds - m.compute - m.optimizer);
      fmt::print("  {:<28} {:>8.0f} {:>6.2f} {:>8.1f} {:>8.1f} {:>9.1f} {:>7.1f} {:>8.1f}\n", plan.name,
                 8 * 256 / seconds, one / seconds, 1e3 * seconds, 1e3 * m.compute, 1e3 * m.optimizer, 1e3 * m.moving,
                 1e3 * waiting);
    }
  }
  fmt::print(
      "ratio: to one rank with two threads. compute, optimizer: the compute lane's ops. moving: collectives and\n"
      "messages from when all were there; waiting: the step less compute and optimizer, exposed moving included.\n");
}
