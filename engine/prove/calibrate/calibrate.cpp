#include "engine/prove/calibrate/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <thread>
#include <vector>

#include "engine/base/host/clock.hpp"
#include "engine/base/host/threads.hpp"
#include "engine/execute/run/rank_run.hpp"
#include "engine/predict/cost/collective_costs.hpp"
#include "engine/predict/network/link.hpp"

namespace rankscope {
namespace {

/// Limit of a prediction's threads, each of which has its own memory.
constexpr int most_at_once = 4;

class TraceObserver : public RankObserver {
 public:
  void step_done(const StepSummary& summary, const StepTrace& trace) override {
    if (summary.step > 0) steps.push_back(trace.cpu_ns);
  }
  std::vector<std::vector<std::int64_t>> steps;
};

double bytes_touched(const RankProgram& program, const Op& op) {
  double bytes = 0;
  for (const BufferUse& use : op.uses)
    bytes += static_cast<double>(program.buffers[use.buffer].bytes()) * (use.access == Access::accumulate ? 2 : 1);
  return bytes;
}

/// ns per byte in a calibration run of ops of that kind and, for optimizer ops, segment (norm, update). There can be
/// several of them in a step.
double rate_of(const RankProgram& program, const std::vector<CostSample>& samples, OpKind kind, Segment segment) {
  double ns = 0, bytes = 0;
  std::map<OpIndex, std::vector<std::int64_t>> by_op;
  for (const CostSample& sample : samples) {
    const OpFields f = program.ops[sample.op].id.fields();
    if (f.kind == kind && (kind != OpKind::optimizer || f.segment == segment)) by_op[sample.op].push_back(sample.ns);
  }
  for (auto& [op, of_steps] : by_op) {
    ns += static_cast<double>(median(std::move(of_steps)));
    bytes += bytes_touched(program, program.ops[op]);
  }
  return bytes > 0 ? ns / bytes : 0;
}

/// The plan's work on one rank: a model of this number of its blocks. Those of a resnet are all different.
StepProgram with_blocks(const StepProgram& step, int blocks) {
  Scenario small = step.scenario;
  if (!small.model.is_resnet()) small.model.layers = std::min(step.scenario.model.layers, blocks);
  small.fault = {};
  small.plan.stages = "even";
  // Of blocks that are repeated together, all but the last also repeat their last product.
  const PlanSpec& plan = step.scenario.plan;
  if (plan.recompute == Recompute::sqrt || plan.recompute_blocks > 1) {
    small.plan.recompute = Recompute::blocks;
    small.plan.recompute_blocks = small.model.layers;
  }
  // The shapes of a tensor group remain; one of its ranks is measured.
  small.plan.data = small.plan.pipeline = small.plan.virtual_stages = 1;
  small.plan.zero = 0;
  small.plan.schedule =
      splits_backward(step.schedule) ? ScheduleKind::zb_h1 : ScheduleKind::one_f_one_b;  // one chunk, the same ops
  small.plan.micro_batches = 2;  // a first micro-batch writes its gradients, the others add
  small.train.global_batch = 2 * step.model.micro_batch_size;
  return compile(small);
}

/// Enough blocks to exceed a core's caches and its TLB, if the model has them: two small blocks
/// stay there from step to step, and were measured 6 % (of four blocks) to 12 % (of eight) too fast, on a Xeon with 2
/// MiB of cache a core. Two large ones already exceed them.
StepProgram calibration_of(const StepProgram& step) {
  if (step.scenario.model.is_collective()) return step;  // it computes nothing, on any number of ranks
  constexpr double beyond_caches = 32 << 20;
  constexpr int least = 2, most = 8;
  StepProgram calibration = with_blocks(step, least);
  const auto bytes = static_cast<double>(calibration.program_for(0).arena_bytes);
  const int blocks = std::clamp(static_cast<int>(std::ceil(least * beyond_caches / bytes)), least, most);
  if (blocks > least && !step.scenario.model.is_resnet() && step.scenario.model.layers > least)
    calibration = with_blocks(step, blocks);
  return calibration;
}

}  // namespace

std::vector<CostSample> measure_alone(const StepProgram& step, int rank, int steps,
                                      std::shared_ptr<const Platform> platform) {
  const std::unique_ptr<Dataset> dataset = open_dataset(step.scenario);
  TraceObserver observer;
  RankSettings settings(step);
  settings.platform = std::move(platform);
  settings.dataset = dataset.get();
  settings.observer = &observer;
  settings.start_ns = monotonic_ns();
  RankRun run(std::move(settings), rank);
  run.run(0, static_cast<std::uint32_t>(steps) + 1);
  std::vector<CostSample> samples;
  for (const auto& costs : observer.steps)
    for (OpIndex op = 0; op < costs.size(); ++op) samples.push_back({rank, op, costs[op]});
  return samples;
}

std::vector<CostSample> measure_alone_at_once(const StepProgram& step, int rank, int steps, int copies,
                                              std::shared_ptr<const Platform> platform) {
  std::vector<std::vector<CostSample>> samples(copies);
  std::vector<std::exception_ptr> failures(samples.size());
  {
    std::vector<std::jthread> team;
    for (std::size_t copy = 0; copy < samples.size(); ++copy)
      team.push_back(start_thread<std::jthread>("measuring the cost of ops", [&, copy] {
        try {
          samples[copy] = measure_alone(step, rank, steps, platform);
        } catch (...) {
          failures[copy] = std::current_exception();
        }
      }));
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  for (std::size_t copy = 1; copy < samples.size(); ++copy)
    samples[0].insert(samples[0].end(), samples[copy].begin(), samples[copy].end());
  return std::move(samples[0]);
}

int ranks_at_once(const Platform& platform) {
  if (!platform.device->is_host()) return 1;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / platform.kernels.options.threads);
}

Costs predict_costs(const StepProgram& step, std::shared_ptr<const Platform> platform) {
  const StepProgram calibration_step = calibration_of(step);
  const std::vector<RankProgram> programs = calibration_step.all_programs();
  const int at_once = std::min({step.grid.size(), ranks_at_once(*platform), most_at_once});
  const std::vector<CostSample> samples = measure_alone_at_once(calibration_step, 0, 7, at_once, std::move(platform));
  const double norm_rate = rate_of(programs[0], samples, OpKind::optimizer, Segment::norm);
  const double update_rate = rate_of(programs[0], samples, OpKind::optimizer, Segment::update);
  const double copy_rate = rate_of(programs[0], samples, OpKind::copy, Segment::whole);
  Calibration calibration = calibrate(programs, samples, {});
  // Segments recur exactly; the optimizer's ops do not, and loading is only a few bytes.
  Costs otherwise;
  otherwise.compute_ns = [=](const RankProgram& program, const Op& op) -> std::int64_t {
    double rate = 0;
    if (op.id.kind() == OpKind::copy) rate = copy_rate;
    if (op.id.kind() == OpKind::optimizer) rate = op.id.fields().segment == Segment::norm ? norm_rate : update_rate;
    return static_cast<std::int64_t>(bytes_touched(program, op) * rate);
  };
  Costs costs = calibrated_costs(std::move(calibration), std::move(otherwise));
  costs.link = [cluster = step.scenario.cluster](int from, int to) { return cluster_link(cluster, from, to); };
  costs.collective_ns = collective_costs(step.scenario.plan.collective, costs.link);
  return costs;
}

}  // namespace rankscope
