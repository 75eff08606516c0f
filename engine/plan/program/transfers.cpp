#include <map>

#include "engine/plan/program/passes.hpp"

namespace rankscope {
namespace {

Op load_op(int chunk, int micro_batch, std::vector<BufferUse> uses) {
  return {OpId::of({OpKind::load_batch, Purpose::none, chunk, micro_batch}), GroupKind::self, -1, std::move(uses)};
}

/// The position at which an op is issued one action before `action` begins.
std::size_t one_action_ahead(const std::vector<Action>& actions, std::size_t action) {
  return actions[action > 0 ? action - 1 : 0].begin;
}

}  // namespace

RankProgram add_batches(RankProgram program, const StepProgram& step) {
  const std::vector<Action> actions = actions_of(program);
  const int last_chunk = step.schedule.shape.chunks() - 1;
  std::vector<Insertion> loads;
  for (std::size_t a = 0; a < actions.size(); ++a) {
    const OpFields f = actions[a].id.fields();
    if (f.kind != OpKind::forward || (f.chunk != 0 && f.chunk != last_chunk)) continue;
    std::vector<BufferUse> uses;  // tokens, then targets
    if (f.chunk == 0) uses.push_back({program.ops[actions[a].begin].uses[0].buffer, Access::write});
    if (f.chunk == last_chunk) uses.push_back({program.ops[actions[a].end - 1].uses[1].buffer, Access::write});
    loads.push_back({one_action_ahead(actions, a), load_op(f.chunk, f.micro_batch, std::move(uses))});
  }
  return insert_ops(std::move(program), std::move(loads));
}

RankProgram add_pipeline_transfers(RankProgram program, const StepProgram& step) {
  const std::vector<Action> actions = actions_of(program);
  const ChunkSchedule& schedule = step.schedule;
  const Coordinates at = step.grid.coordinates_of(program.rank);
  const auto is_elsewhere = [&](int chunk) {
    return chunk >= 0 && chunk < schedule.shape.chunks() && schedule.stage_of_chunk[chunk] != at.pipeline;
  };
  std::vector<Insertion> transfers;
  const auto add = [&](std::size_t position, OpKind kind, const OpFields& f, int neighbour, BufferIndex buffer) {
    const Purpose purpose = f.kind == OpKind::forward ? Purpose::pipeline_forward : Purpose::pipeline_backward;
    const int stage = schedule.stage_of_chunk[neighbour];
    transfers.push_back({position,
                         {OpId::of({kind, purpose, f.chunk, f.micro_batch}),
                          GroupKind::self,
                          step.grid.rank_of({at.tensor, at.data, stage}),
                          {{buffer, kind == OpKind::send ? Access::read : Access::write}}}});
  };

  std::map<OpId, std::size_t> action_of;
  for (std::size_t a = 0; a < actions.size(); ++a) {
    action_of[actions[a].id] = a;
    const OpFields f = actions[a].id.fields();
    const int from = f.kind == OpKind::forward ? f.chunk - 1 : f.chunk + 1;
    // The first segment's first operand is received: its input, or the gradient of its output.
    if (f.kind != OpKind::weight_gradient && is_elsewhere(from))
      add(one_action_ahead(actions, a), OpKind::receive, f, from, program.ops[actions[a].begin].uses[0].buffer);
  }
  const auto& order = schedule.order[at.pipeline];
  for (const Sending& sending : sending_order(schedule, at.pipeline)) {
    const Action& action = actions[action_of.at(order[sending.op])];
    int behind = sending.after;  // an empty weight gradient has no ops
    while (!action_of.contains(order[behind])) --behind;
    const std::size_t after = action_of.at(order[behind]);
    const std::size_t later = actions[after + 1 < actions.size() ? after + 1 : after].end;
    const OpFields f = action.id.fields();
    const Op& last = program.ops[action.end - 1];
    const SegmentSpec& segment = segment_of(step.model, last.id);
    // A forward's output is its last operand; a backward writes the gradient of its input among others.
    const std::size_t operand = f.kind == OpKind::forward    ? last.uses.size() - 1
                                : f.kind == OpKind::backward ? backward_gradient_output_at(segment, 0)
                                                             : input_gradient_output_at(segment, 0);
    add(later, OpKind::send, f, f.kind == OpKind::forward ? f.chunk + 1 : f.chunk - 1, last.uses[operand].buffer);
  }
  return insert_ops(std::move(program), std::move(transfers));
}

}  // namespace rankscope
