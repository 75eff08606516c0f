#include "engine/worker/run_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <thread>

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
constexpr double bytes_per_op = 1000;  // of a program with its costs and spans in transfer, in supervisor and worker

/// fp32 weights and gradients would be twice this: the minimum of any plan, over all ranks.
double parameter_bytes(const StepProgram& step) {
  double elements = 0;
  for (const ParameterSpec& parameter : step.model.parameters)
    elements += static_cast<double>(parameter.shape.elements());
  const double once = 2.0 * static_cast<double>(bytes_of(step.model.type)) * elements;  // and its gradient
  return once * step.grid.tensor * (step.zero() > 0 ? 1 : step.grid.data);
}

double tensor_bytes(const StepProgram& step, RankRange here, bool on_gpu, bool& is_exact) {
  double bytes = 0;
  if (count_ops(step) <= few_ops) {
    is_exact = true;
    for (int rank = here.first; rank < here.end; ++rank) {
      const RankProgram program = step.program_for(rank);
      bytes += static_cast<double>(program.host_bytes + (on_gpu ? 0 : program.arena_bytes));
    }
    return bytes;
  }
  if (on_gpu) return 0;
  const double share = static_cast<double>(here.count()) / step.grid.size();
  if (!std::string_view(why_not_folded(step.scenario)).empty()) return parameter_bytes(step) * share;
  for (const StageMemory& stage : fold_memory(step.scenario, step.model, step.schedule, step.first_segment))
    bytes += static_cast<double>(stage.peak()) * step.grid.tensor * step.grid.data;
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
  size.bytes = tensor_bytes(step, here, device == DeviceKind::cuda, size.is_exact) + count_ops(step) * bytes_per_op;
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
      agreeing(here->count(), "needs", "need"), size.is_exact ? "at least" : "about", figure::bytes(size.bytes),
      figure::bytes(static_cast<double>(available.bytes)), available.limited_by,
      least_time(step, size.step_flops, request.device, request.threads), any_size_option));
}

}  // namespace rankscope
