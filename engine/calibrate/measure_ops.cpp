#include "engine/calibrate/measure_ops.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "engine/calibrate/calibrate.hpp"
#include "engine/program/compile.hpp"
#include "engine/simulate/costs.hpp"
#include "engine/simulate/measured.hpp"

namespace rankscope {
namespace {

constexpr int steps = 5;  // of each scenario, behind one that warms up

/// FLOPs and bytes of a model's op.
std::pair<double, double> work_of(const Model& model, const OpFields& f) {
  for (const SegmentSpec& s : model.segments) {
    if (s.kind != f.segment || s.block != f.block) continue;
    if (f.kind == OpKind::input_gradient) return {s.input_gradient_flops, s.input_gradient_bytes};
    if (f.kind == OpKind::weight_gradient) return {s.weight_gradient_flops, s.weight_gradient_bytes};
    if (f.kind == OpKind::backward) return {s.input_gradient_flops + s.weight_gradient_flops, s.backward_bytes};
    return {s.forward_flops, s.forward_bytes};  // forward, and done again
  }
  return {0, 0};
}

/// On every core at once, as in a run: cores share caches and the memory.
std::vector<CostSample> measure_on_all_cores(const StepProgram& step, int threads) {
  const unsigned copies = std::max(1u, std::thread::hardware_concurrency() / static_cast<unsigned>(threads));
  std::vector<std::vector<CostSample>> samples(copies);
  std::vector<std::exception_ptr> failures(copies);
  std::vector<std::thread> team;
  for (unsigned copy = 0; copy < copies; ++copy)
    team.emplace_back([&, copy] {
      try {
        samples[copy] = measure_alone(step, 0, steps, open_platform("cpu", threads));
      } catch (...) {
        failures[copy] = std::current_exception();
      }
    });
  for (std::thread& thread : team) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  for (unsigned copy = 1; copy < copies; ++copy)
    samples[0].insert(samples[0].end(), samples[copy].begin(), samples[copy].end());
  return std::move(samples[0]);
}

}  // namespace

void OpMeasurement::pass(const std::vector<Scenario>& scenarios, int threads) {
  for (const Scenario& scenario : scenarios) {
    const StepProgram step = compile(scenario);
    const RankProgram program = step.program_for(0);
    const OptimizerRule& rule = optimizer_rule(scenario.train.optimizer);
    for (const CostSample& sample : measure_on_all_cores(step, threads)) {
      const Op& op = program.ops[sample.op];
      const OpFields f = op.id.fields();
      if (is_communication(f.kind) || sample.ns <= 0) continue;
      const bool of_model = is_model_compute(f.kind);
      if (of_model && f.micro_batch == 0) continue;  // writes gradients where the others add
      const auto [flops, bytes] = of_model ? work_of(step.model, f) : std::pair(0.0, moved_bytes(program, op, rule));
      if (flops == 0 && bytes == 0) continue;
      const OpKind kind = f.kind == OpKind::recompute ? OpKind::forward : f.kind;
      samples_[{MeasuredOps::name(kind, f.segment), scenario.plan.precision, flops, bytes}].push_back(sample.ns);
    }
  }
}

void OpMeasurement::add(const OpMeasurement& other) {
  for (const auto& [size, samples] : other.samples_) {
    std::vector<std::int64_t>& mine = samples_[size];
    mine.insert(mine.end(), samples.begin(), samples.end());
  }
}

std::vector<MeasuredCost> OpMeasurement::costs() const {
  std::vector<MeasuredCost> costs;
  for (const auto& [size, samples] : samples_) {
    const auto& [op, precision, flops, bytes] = size;
    costs.push_back({op, precision, flops, bytes, static_cast<double>(median(samples)) * 1e-9});
  }
  return costs;
}

std::vector<Scenario> measured_sizes(const std::string& precision) {
  struct Sizes {
    int width, heads, context, samples, vocabulary, tensor;
    const char* schedule;
  };
  std::vector<Scenario> scenarios;
  for (const Sizes& sizes : {Sizes{64, 2, 64, 4, 256, 1, "1f1b"}, Sizes{128, 4, 64, 8, 256, 1, "1f1b"},
                             Sizes{128, 4, 128, 8, 1024, 1, "1f1b"}, Sizes{256, 8, 128, 2, 512, 1, "1f1b"},
                             Sizes{256, 4, 64, 16, 256, 1, "1f1b"}, Sizes{320, 5, 128, 4, 512, 1, "1f1b"},
                             Sizes{128, 4, 64, 8, 256, 1, "zb-h1"}, Sizes{256, 8, 128, 2, 512, 1, "zb-h1"},
                             Sizes{256, 4, 64, 16, 512, 1, "zb-h1"}, Sizes{128, 4, 64, 8, 256, 2, "1f1b"},
                             Sizes{256, 8, 128, 4, 512, 4, "1f1b"}, Sizes{320, 10, 64, 16, 512, 2, "1f1b"},
                             Sizes{256, 8, 128, 8, 1024, 2, "1f1b"}}) {
    Scenario s;
    s.model = {"gpt", 2, sizes.width, sizes.heads, sizes.context, sizes.vocabulary, true, 0.0};
    s.plan.tensor = sizes.tensor;
    s.plan.schedule = sizes.schedule;
    s.plan.micro_batches = 3;
    s.plan.precision = precision;
    s.train.global_batch = 3 * sizes.samples;
    s.train.clip = 1.0;
    scenarios.push_back(std::move(s));
  }
  return scenarios;
}

}  // namespace rankscope
