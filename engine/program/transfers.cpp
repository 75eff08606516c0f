#include <cassert>

#include "engine/program/passes.hpp"

namespace rankscope {
namespace {

Op load_op(int chunk, int micro_batch, std::vector<BufferUse> uses) {
  return {OpId::of({OpKind::load_batch, Purpose::none, chunk, micro_batch, -1, Segment::whole, -1}),
          GroupKind::self,
          -1,
          std::move(uses),
          {},
          {}};
}

/// Where an op must stand so that it is issued one action before `action` begins.
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
  const int last_chunk = step.schedule.shape.chunks() - 1;
  const Coordinates at = step.grid.coordinates_of(program.rank);
  const auto rank_with = [&](int chunk) {
    return step.grid.rank_of({at.tensor, at.data, step.schedule.stage_of_chunk[static_cast<std::size_t>(chunk)]});
  };
  std::vector<Insertion> transfers;
  const auto add = [&](std::size_t position, OpKind kind, Purpose purpose, int chunk, int micro_batch, int neighbour,
                       BufferIndex buffer) {
    assert(rank_with(neighbour) != program.rank && "neighbouring chunks on one rank need no transfer");
    transfers.push_back({position,
                         {OpId::of({kind, purpose, chunk, micro_batch, -1, Segment::whole, -1}),
                          GroupKind::self,
                          rank_with(neighbour),
                          {{buffer, kind == OpKind::send ? Access::read : Access::write}},
                          {},
                          {}}});
  };
  for (std::size_t a = 0; a < actions.size(); ++a) {
    const auto [kind, purpose, chunk, m, block, segment, index] = actions[a].id.fields();
    const Op& first = program.ops[actions[a].begin];
    const Op& last = program.ops[actions[a].end - 1];
    const std::size_t ahead = one_action_ahead(actions, a);
    const std::size_t later = a + 1 < actions.size() ? actions[a + 1].end : actions[a].end;
    if (kind == OpKind::forward) {
      // The chunk's input is its first segment's first input, its output the last segment's `output`.
      if (chunk > 0) add(ahead, OpKind::receive, Purpose::pipeline_forward, chunk, m, chunk - 1, first.uses[0].buffer);
      if (chunk < last_chunk)
        add(later, OpKind::send, Purpose::pipeline_forward, chunk, m, chunk + 1, last.uses.back().buffer);
    } else {
      if (chunk < last_chunk)
        add(ahead, OpKind::receive, Purpose::pipeline_backward, chunk, m, chunk + 1, first.uses[0].buffer);
      if (chunk > 0) {
        const std::size_t input_gradient = backward_gradient_output_at(segment_of(step.model, last.id), 0);
        add(later, OpKind::send, Purpose::pipeline_backward, chunk, m, chunk - 1, last.uses[input_gradient].buffer);
      }
    }
  }
  return insert_ops(std::move(program), std::move(transfers));
}

}  // namespace rankscope
