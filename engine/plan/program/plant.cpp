#include <algorithm>

#include "engine/plan/program/passes.hpp"

namespace rankscope {

// Faults of the launches ("gradient_scale", "dropped_micro_batch") are planted by engine/execute/run,
// "lost_part" by the loader there, "unmasked_padding" by the model.
RankProgram plant_fault(RankProgram program, const StepProgram& step) {
  const Plant plant = step.scenario.fault.plant;
  if (plant == Plant::untied_embedding)
    std::erase_if(program.ops, [](const Op& op) { return op.id.fields().purpose == Purpose::embedding; });
  if (plant == Plant::unsynchronised_norms)
    std::erase_if(program.ops, [](const Op& op) {
      return op.id.fields().purpose == Purpose::tensor && op.id.fields().micro_batch < 0;
    });
  if (plant == Plant::skipped_norm_term && program.rank == 0)
    for (Op& op : program.ops)
      if (op.id.kind() == OpKind::optimizer && op.id.fields().segment == Segment::norm) op.uses.pop_back();
  if (plant == Plant::norm_counted_twice && program.rank == 0)
    for (Op& op : program.ops)
      if (op.id.kind() == OpKind::optimizer && op.id.fields().segment == Segment::norm)
        op.uses.push_back(op.uses.back());
  return program;
}

RankProgram plant_missing_edge(RankProgram program, const StepProgram& step) {
  if (step.scenario.fault.plant != Plant::early_gather_read) return program;
  for (Op& op : program.ops)
    if (is_model_compute(op.id.kind()))
      std::erase_if(op.after,
                    [&](OpIndex before) { return program.ops[before].id.fields().purpose == Purpose::zero_parameter; });
  return program;
}

}  // namespace rankscope
