#include <map>

#include "engine/plan/program/bucket.hpp"
#include "engine/plan/program/passes.hpp"

namespace rankscope {

bool counts_parameter(const StepProgram& step, int rank, int parameter) {
  const bool all_have_it = step.model.parameters[parameter].split.axis < 0;
  if (all_have_it && step.grid.coordinates_of(rank).tensor > 0) return false;
  const bool embedding = parameter == step.model.segments.front().parameters.front();
  return !(embedding && shares_embedding(step, rank) &&
           step.grid.coordinates_of(rank).pipeline == step.schedule.stage_of_chunk.back());
}

RankProgram add_checkpoint(RankProgram program, const StepProgram& step) {
  if (step.scenario.train.checkpoint_every == 0) return program;
  const Coordinates at = step.grid.coordinates_of(program.rank);
  std::vector<BufferUse> uses;
  // The updating rank writes; without pieces the data group's ranks have the same data, and the first one writes.
  if (step.updates(program.rank) && (step.updates_pieces() || at.data == 0)) {
    std::map<int, bool> has_master;
    for (const Buffer& b : program.buffers)
      if (b.role == BufferRole::master) has_master[b.parameter] = true;
    for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
      const Buffer& buffer = program.buffers[b];
      if (buffer.role == BufferRole::loss_scale && program.rank == 0) uses.push_back({b, Access::read});
      if (!buffer.persistent || buffer.parameter < 0 || !counts_parameter(step, program.rank, buffer.parameter))
        continue;
      const bool weights = buffer.role == BufferRole::parameter && buffer.piece == step.updates_pieces() &&
                           buffer.host == step.offloads() && !has_master.count(buffer.parameter);
      if (weights || is_state(buffer)) uses.push_back({b, Access::read});
    }
  }
  program.ops.push_back(
      {OpId::of({OpKind::checkpoint, Purpose::none, at.pipeline}), GroupKind::self, -1, std::move(uses)});
  return program;
}

}  // namespace rankscope
