#include "engine/prove/calibrate/measure_ops.hpp"

#include <algorithm>
#include <numeric>

#include "engine/plan/program/compile.hpp"
#include "engine/predict/cost/measured.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/prove/calibrate/calibrate.hpp"

namespace rankscope {
namespace {

constexpr int steps = 5;  // of each scenario, after one warm-up step

double mean(const std::vector<std::int64_t>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

OpWork work_of_op(const Model& model, const OpFields& f) {
  for (const SegmentSpec& s : model.segments)
    if (s.kind == f.segment && s.block == f.block) return work_of(s, f.kind);
  return {};
}

}  // namespace

void OpMeasurement::pass(const std::vector<Scenario>& scenarios, int threads) {
  const std::shared_ptr<const Platform> platform = open_platform("cpu", threads);
  for (const Scenario& scenario : scenarios) {
    const StepProgram step = compile(scenario);
    const RankProgram program = step.program_for(0);
    const OptimizerRule& rule = optimizer_rule(scenario.train.optimizer);
    for (const CostSample& sample : measure_alone_at_once(step, 0, steps, ranks_at_once(*platform), platform)) {
      const Op& op = program.ops[sample.op];
      const OpFields f = op.id.fields();
      if (is_communication(f.kind) || sample.ns <= 0) continue;
      const bool of_model = is_model_compute(f.kind);
      if (of_model && f.micro_batch == 0) continue;  // writes gradients, to which the others add
      const OpWork work = of_model ? work_of_op(step.model, f) : OpWork{0, moved_bytes(program, op, rule)};
      if (work.flops == 0 && work.bytes == 0) continue;
      const OpKind kind = f.kind == OpKind::recompute ? OpKind::forward : f.kind;
      samples_[{MeasuredOps::name(kind, f.segment), scenario.plan.precision.name(), work.flops, work.bytes,
                work.walked_bytes}]
          .push_back(sample.ns);
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
    const auto& [op, precision, flops, bytes, walked_bytes] = size;
    costs.push_back({op, precision, flops, bytes, mean(samples) * 1e-9, walked_bytes});
  }
  return costs;
}

std::vector<Scenario> measured_sizes(Precision precision) {
  struct Sizes {
    int width, heads, context, samples, vocabulary, tensor;
    ScheduleKind schedule;
  };
  using enum ScheduleKind;
  std::vector<Scenario> scenarios;
  for (const Sizes& sizes :
       {Sizes{64, 2, 64, 4, 256, 1, one_f_one_b}, Sizes{96, 3, 80, 6, 384, 1, one_f_one_b},
        Sizes{128, 4, 128, 8, 1024, 1, one_f_one_b}, Sizes{160, 5, 48, 10, 320, 1, one_f_one_b},
        Sizes{224, 7, 112, 4, 448, 1, one_f_one_b}, Sizes{256, 8, 64, 8, 512, 1, one_f_one_b},
        Sizes{256, 4, 160, 2, 256, 1, one_f_one_b}, Sizes{320, 5, 128, 4, 512, 1, one_f_one_b},
        Sizes{320, 10, 80, 6, 640, 1, one_f_one_b}, Sizes{128, 4, 64, 8, 256, 1, zb_h1},
        Sizes{224, 7, 80, 4, 448, 1, zb_h1}, Sizes{160, 5, 112, 6, 640, 1, zb_h1}, Sizes{256, 8, 128, 2, 512, 1, zb_h1},
        Sizes{320, 10, 48, 12, 512, 1, zb_h1}, Sizes{128, 4, 80, 8, 256, 2, one_f_one_b},
        Sizes{320, 10, 64, 16, 512, 2, one_f_one_b}, Sizes{256, 8, 112, 8, 1024, 2, one_f_one_b},
        Sizes{256, 8, 128, 4, 512, 4, one_f_one_b}, Sizes{288, 9, 64, 8, 384, 3, one_f_one_b}}) {
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
