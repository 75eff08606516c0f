#include <map>

#include "engine/optimizer/rule/rule.hpp"
#include "engine/program/passes.hpp"

namespace rankscope {

RankProgram add_optimizer(RankProgram program, const StepProgram& step) {
  const Coordinates at = step.grid.coordinates_of(program.rank);
  const int chunk = at.pipeline;
  const bool clips = step.scenario.train.clip > 0;

  std::map<int, BufferIndex> parameters, gradients;
  for (BufferIndex b = 0; b < program.buffers.size(); ++b) {
    if (program.buffers[b].memory == MemoryClass::parameters) parameters[program.buffers[b].parameter] = b;
    if (program.buffers[b].memory == MemoryClass::gradients) gradients[program.buffers[b].parameter] = b;
  }
  const auto scalar = [&](const char* name) {
    program.buffers.push_back({name, MemoryClass::buffers, DType::f64, Shape{1}, true, -1, -1, -1});
    return static_cast<BufferIndex>(program.buffers.size() - 1);
  };
  const BufferIndex own = scalar("square_norm"), total = scalar("square_norm_total");

  // The sum of squares counts every parameter once: the last chunk's stage leaves out its copy of a tied embedding.
  Op norm{
      OpId::of({OpKind::optimizer, Purpose::none, chunk, -1, -1, Segment::norm, -1}), GroupKind::self, -1, {}, {}, {}};
  norm.uses = {{own, Access::write}, {total, Access::write}};
  const int embedding = step.model.segments.front().parameters.front();
  const int first_home = step.schedule.stage_of_chunk.front(), last_home = step.schedule.stage_of_chunk.back();
  const bool holds_copy = step.model.spec.tied && first_home != last_home && at.pipeline == last_home;
  for (const auto& [parameter, gradient] : gradients)
    if (!(holds_copy && parameter == embedding)) norm.uses.push_back({gradient, Access::read});
  program.ops.push_back(std::move(norm));

  if (clips && step.grid.pipeline * step.grid.tensor > 1)
    program.ops.push_back({OpId::of({OpKind::all_reduce, Purpose::norm, -1, -1, -1, Segment::whole, 0}),
                           GroupKind::model,
                           -1,
                           {{total, Access::accumulate}},
                           {},
                           {}});

  // Operands: the total square norm, then for each parameter its gradient, itself and its states.
  Op update{OpId::of({OpKind::optimizer, Purpose::none, chunk, -1, -1, Segment::update, -1}),
            GroupKind::self,
            -1,
            {},
            {},
            {}};
  update.uses = {{clips ? total : own, Access::read}};
  const OptimizerRule& rule = optimizer_rule(step.scenario.train.optimizer);
  for (const auto& [parameter, gradient] : gradients) {
    const ParameterSpec& spec = step.model.parameters[static_cast<std::size_t>(parameter)];
    update.uses.push_back({gradient, Access::read});
    update.uses.push_back({parameters.at(parameter), Access::accumulate});
    const UpdateTarget target =
        UpdateTarget::whole(step.model.type, accumulation_type(step.model.type), program.buffers[gradient].shape);
    for (const StateSpec& state : states_of(rule, target)) {
      program.buffers.push_back(
          {state.name + ":" + spec.name, MemoryClass::optimizer, state.type, state.shape, true, parameter, -1, -1});
      update.uses.push_back({static_cast<BufferIndex>(program.buffers.size() - 1), Access::accumulate});
    }
  }
  program.ops.push_back(std::move(update));
  return program;
}

}  // namespace rankscope
