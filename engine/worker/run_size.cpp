#include "engine/worker/run_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/base/host/memory.hpp"
#include "engine/execute/run/platform.hpp"
#include "engine/explain/facts/prediction.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/predict/cost/ledger.hpp"
#include "engine/predict/fold/folded.hpp"
#include "engine/prove/calibrate/peak.hpp"
#include "engine/worker/launch.hpp"

namespace rankscope {
namespace {

constexpr double few_ops = 3e4;        // programs that are built within a second
constexpr double many_ops = 6e4;       // within some seconds
constexpr double bytes_per_op = 1000;  // of a program with its costs and spans in transfer, in supervisor and worker

/// fp32 weights and gradients would be twice this: the minimum of any plan, over all ranks.
double parameter_bytes(const StepProgram& step) {
  double elements = 0;
  for (const ParameterSpec& parameter : step.model.parameters)
    elements += static_cast<double>(parameter.shape.elements());
  const double once = 2.0 * static_cast<double>(bytes_of(step.model.type)) * elements;  // and its gradient
  return once * step.grid.tensor * (step.zero() > 0 ? 1 : step.grid.data);
}

/// A rank, and the number of ranks that need as much memory.
struct Representative {
  int rank = 0, count = 1;
};

/// Tensor ranks need the same memory, and so do data ranks, but the first one if that updates for the others.
std::vector<Representative> representatives(const StepProgram& step) {
  const RankGrid& grid = step.grid;
  std::vector<Representative> all;
  for (int stage = 0; stage < grid.pipeline; ++stage) {
    all.push_back({grid.rank_of({0, 0, stage}), grid.tensor});
    if (grid.data > 1) all.push_back({grid.rank_of({0, 1, stage}), grid.tensor * (grid.data - 1)});
  }
  if (grid.servers > 0) all.push_back({grid.workers(), grid.servers});
  return all;
}

/// `is_estimate`: not of the programs, but counted stage by stage.
double tensor_bytes(const StepProgram& step, RankRange here, bool on_gpu, bool& is_estimate) {
  const auto bytes_of_rank = [&](int rank) {
    const RankProgram program = step.program_for(rank);
    return static_cast<double>(program.host_bytes + (on_gpu ? 0 : program.arena_bytes));
  };
  double bytes = 0;
  const double ops_of_rank = count_ops(step) / step.grid.size();
  if (ops_of_rank * here.count() <= few_ops) {
    for (int rank = here.first; rank < here.end; ++rank) bytes += bytes_of_rank(rank);
    return bytes;
  }
  const double share = static_cast<double>(here.count()) / step.grid.size();
  Scenario own = step.scenario;
  own.cluster.software = {};  // this engine's, whatever the cluster runs
  if (!on_gpu && std::string_view(why_not_folded(own)).empty()) {
    is_estimate = true;
    for (const StageMemory& stage : fold_memory(own, step.model, step.schedule, step.first_segment))
      bytes += static_cast<double>(stage.peak()) * step.grid.tensor * step.grid.data;
    return bytes * share;
  }
  const std::vector<Representative> some = representatives(step);
  if (ops_of_rank * static_cast<double>(some.size()) > many_ops) return on_gpu ? 0 : parameter_bytes(step) * share;
  for (const auto& [rank, count] : some) bytes += bytes_of_rank(rank) * count;
  return bytes * share;
}

double step_flops(const StepProgram& step) {
  double flops = 0;
  for (const SegmentSpec& segment : step.model.segments)
    flops += segment.forward_flops + segment.input_gradient_flops + segment.weight_gradient_flops;
  return flops * step.grid.tensor * step.scenario.train.global_batch / step.model.micro_batch_size;
}

std::string long_time(double seconds) {
  if (seconds < 120) return fmt::format("{:.3g} s", seconds);
  if (seconds < 7200) return fmt::format("{:.3g} minutes", seconds / 60);
  if (seconds < 172800) return fmt::format("{:.3g} hours", seconds / 3600);
  return fmt::format("{:.3g} days", seconds / 86400);
}

/// At the rate of large matrix products on all cores: no part of a step is faster.
std::string least_time(const StepProgram& step, double flops, DeviceKind device, int threads) {
  if (!computes(device) || !(flops > 0)) return {};
  constexpr std::int64_t large = 1024;
  const double here = glance_at_peak(step.scenario.compute_type(), *open_platform(device, threads), large).wall;
  const bool on_cpu = device == DeviceKind::cpu;
  const double cores = on_cpu ? std::max(1u, std::thread::hardware_concurrency()) / static_cast<double>(threads) : 1;
  return fmt::format("; a step would take at least {} here ({:.2g} FLOP)", long_time(flops / (here * cores)), flops);
}

}  // namespace

RunSize size_of_run(const StepProgram& step, Choice<DeviceKind> device, RankRange here) {
  RunSize size;
  size.bytes = tensor_bytes(step, here, device == DeviceKind::cuda, size.is_estimate) + count_ops(step) * bytes_per_op;
  size.step_flops = step_flops(step);
  return size;
}

void check_fits(const StepProgram& step, const RunRequest& request) {
  if (request.any_size) return;
  const auto here = ranks_here(step.scenario, request);
  if (!here || here->count() == 0) return;
  const RunSize size = size_of_run(step, request.device, *here);
  const AvailableMemory available = available_memory();
  if (available.limited_by.empty() || size.bytes <= static_cast<double>(available.bytes)) return;
  throw PlanError(fmt::format(
      "{} {} {} {} of memory on this machine, and {} are {}{}; choose a smaller model or "
      "plan, use `simulate` to see it on another cluster, or start anyway with {}",
      here->count() == step.grid.size() ? "the run's " + counted(step.grid.size(), "rank")
                                        : fmt::format("ranks {} to {} of the run", here->first, here->end - 1),
      agreeing(here->count(), "needs", "need"), size.is_estimate ? "about" : "at least", figure::bytes(size.bytes),
      figure::bytes(static_cast<double>(available.bytes)), available.limited_by,
      least_time(step, size.step_flops, request.device, request.threads), any_size_option));
}

}  // namespace rankscope
