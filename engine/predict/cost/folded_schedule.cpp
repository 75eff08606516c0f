#include "engine/predict/cost/folded_schedule.hpp"

#include <algorithm>
#include <utility>

#include "engine/plan/program/compile.hpp"

namespace rankscope {
namespace {

Pass pass_of(OpId id) {
  const OpFields f = id.fields();
  return {static_cast<std::uint32_t>(f.micro_batch), static_cast<std::uint32_t>(f.chunk),
          static_cast<std::uint32_t>(f.kind)};
}

bool is_waited_for(const Pass& pass) {
  return pass.op_kind() == OpKind::backward || pass.op_kind() == OpKind::input_gradient;
}

void add(std::vector<PassCount>& counts, const Pass& pass) {
  const PassCount one{pass.op_kind(), static_cast<int>(pass.chunk), pass.micro_batch == 0, 1};
  for (PassCount& known : counts)
    if (known.kind == one.kind && known.chunk == one.chunk && known.is_first == one.is_first) {
      ++known.count;
      return;
    }
  counts.push_back(one);
}

StageOrder order_of(const std::vector<OpId>& ops) {
  StageOrder order;
  order.passes.reserve(ops.size());
  for (const OpId op : ops) order.passes.push_back(pass_of(op));
  const auto& passes = order.passes;
  order.first_chunk = static_cast<int>(passes.front().chunk);
  const auto is_backward = [](const Pass& pass) { return pass.op_kind() != OpKind::forward; };
  order.last_backward = *std::find_if(passes.rbegin(), passes.rend(), is_backward);
  const auto last = std::find_if(passes.rbegin(), passes.rend(), is_waited_for);
  order.last_gradient = *last;
  for (auto pass = passes.rbegin(); pass != last; ++pass) add(order.behind, *pass);
  return order;
}

int most_in_flight(const std::vector<Pass>& passes, int micro_batches) {
  int forwards = 0, gradients = 0, most = 0;
  for (const Pass& pass : passes) {
    if (pass.chunk != 0) continue;
    const bool forward = pass.op_kind() == OpKind::forward;
    if (!forward && !is_waited_for(pass)) continue;
    int& count = forward ? forwards : gradients;
    if (static_cast<int>(pass.micro_batch) != count++) return micro_batches;
    most = std::max(most, forwards - gradients);
  }
  return most;
}

}  // namespace

OpId Pass::id() const {
  return OpId::of({op_kind(), Purpose::none, static_cast<int>(chunk), static_cast<int>(micro_batch)});
}

FoldedSchedule folded(const ChunkSchedule& schedule) {
  FoldedSchedule made{schedule.shape, schedule.stage_of_chunk, {}, splits_backward(schedule), 1};
  for (const auto& ops : schedule.order) made.stages.push_back(order_of(ops));
  const auto& first = made.stages[made.stage_of_chunk.front()];
  made.in_flight = most_in_flight(first.passes, made.shape.micro_batches);
  return made;
}

const FoldedSchedule& Schedules::of(const PlanSpec& plan) {
  const std::string& more = plan.schedule == ScheduleKind::by_hand ? plan.order : plan.pass_times;
  const std::lock_guard lock(mutex_);
  const auto [found, made] =
      made_.try_emplace({plan.schedule, plan.pipeline, plan.virtual_stages, plan.micro_batches, more});
  if (made) {
    try {
      found->second = folded(schedule_of(plan));
    } catch (...) {
      made_.erase(found);
      throw;
    }
  }
  return found->second;
}

}  // namespace rankscope
