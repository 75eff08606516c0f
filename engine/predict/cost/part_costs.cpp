#include "engine/predict/cost/part_costs.hpp"

#include <numeric>

#include "engine/plan/program/communication.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/network/link.hpp"

namespace rankscope {

Scenario as_one_stage(const Scenario& scenario) {
  Scenario even = scenario;
  even.plan.stages = "even";
  const bool splits = splits_backward(compile(even).schedule);
  Scenario one = even;
  PlanSpec& plan = one.plan;
  plan.data = plan.pipeline = plan.virtual_stages = plan.servers = 1;
  plan.data_parallel = DataParallel::all_reduce;
  plan.staleness = plan.zero = 0;
  plan.schedule = splits ? ScheduleKind::zb_h1 : ScheduleKind::one_f_one_b;
  plan.order.clear();
  plan.micro_batches = 2;  // the first one's gradients are written, the others' added
  one.train.global_batch = 2 * scenario.micro_batch_size();
  one.train.checkpoint_every = 0;
  one.fault = {};
  return one;
}

PartCosts cost_of_parts(const StepProgram& one_stage, const Costs& costs) {
  const RankProgram program = one_stage.program_for(0);
  std::vector<int> members(static_cast<std::size_t>(one_stage.grid.tensor));
  std::iota(members.begin(), members.end(), 0);
  const auto cost_of = [&](const Op& op) -> std::int64_t {
    if (!is_communication(op.id.kind())) return costs.compute_ns(program, op);
    const std::int64_t payload = contribution_bytes(program, op, one_stage.grid.tensor);
    return costs.collective_ns ? costs.collective_ns(op.id.kind(), members, payload)
                               : ring_ns(op.id.kind(), members, payload, costs.link);
  };
  PartCosts parts;
  parts.blocks.assign(static_cast<std::size_t>(one_stage.model.spec.layers), 0);
  for (const Op& op : program.ops) {
    const OpFields f = op.id.fields();
    const bool exchange = is_communication(f.kind);  // among tensor ranks: there are no others
    if (f.micro_batch != 1 || (!is_model_compute(f.kind) && !exchange)) continue;
    double& part = f.block >= 0 ? parts.blocks[f.block] : is_before_blocks(f.segment) ? parts.first : parts.last;
    part += static_cast<double>(cost_of(op));
  }
  // Transformer blocks are identical, so the mean is more accurate than each measurement.
  if (!one_stage.model.spec.is_resnet()) {
    const double sum = std::accumulate(parts.blocks.begin(), parts.blocks.end(), 0.0);
    parts.blocks.assign(parts.blocks.size(), sum / static_cast<double>(parts.blocks.size()));
  }
  return parts;
}

}  // namespace rankscope
