#include "engine/execute/run/checkpoint_tensors.hpp"

#include <map>

#include "engine/plan/optimizer_rule/rule.hpp"
#include "kernels/device/host_tensor.hpp"

namespace rankscope {
namespace {

/// Elements of a parameter that the rank updates: of all of it, or of ZeRO's piece.
std::map<int, std::int64_t> updated_elements(const StepProgram& step, const RankProgram& program) {
  std::map<int, std::int64_t> elements;
  for (const Buffer& b : program.buffers)
    if (b.role == BufferRole::parameter && b.persistent && b.parameter >= 0 && b.piece == step.updates_pieces())
      elements[b.parameter] = b.shape.elements();
  return elements;
}

CheckpointTensor tensor_of(const StepProgram& step, const RankProgram& program, const Buffer& buffer,
                           const std::map<int, std::int64_t>& updated, const Arena& arena) {
  CheckpointTensor tensor;
  if (buffer.parameter < 0) {
    tensor.role = loss_scale_role;
    tensor.view = arena.view(buffer.offset, buffer.type, buffer.shape);
    return tensor;
  }
  const ParameterSpec& spec = step.model.parameters[buffer.parameter];
  tensor.parameter = buffer.parameter;
  tensor.tensor = step.grid.coordinates_of(program.rank).tensor;
  tensor.first = buffer.first;
  tensor.view = arena.view(buffer.offset, buffer.type, buffer.shape);
  tensor.is_whole = buffer.shape.elements() == spec.shape.elements();
  if (is_state(buffer)) {
    if (buffer.role != BufferRole::master) tensor.role = buffer.state;  // a master is stored as the weights
    const std::int64_t elements = updated.at(buffer.parameter);
    tensor.is_whole = elements == spec.shape.elements();
    if (buffer.shape.elements() != elements) {
      // One entry per `grain` elements; or, for a complete tensor, per row or column, with `first` 0.
      const std::int64_t grain = optimizer_rule(step.scenario.train.optimizer).grain;
      tensor.elementwise = false;
      tensor.first = grain > 1 ? buffer.first / grain : buffer.first;
    }
  }
  return tensor;
}

}  // namespace

std::vector<CheckpointTensor> checkpoint_tensors(const StepProgram& step, const RankProgram& program, const Op& op,
                                                 const Arena& arena) {
  const std::map<int, std::int64_t> updated = updated_elements(step, program);
  std::vector<CheckpointTensor> tensors;
  for (const BufferUse& use : op.uses)
    tensors.push_back(tensor_of(step, program, program.buffers[use.buffer], updated, arena));
  return tensors;
}

void restore(const Checkpoint& checkpoint, const StepProgram& step, const RankProgram& program, const Arena& arena,
             Device& device) {
  const std::unique_ptr<Queue> queue = device.make_queue();
  const std::map<int, std::int64_t> updated = updated_elements(step, program);
  for (const Buffer& buffer : program.buffers) {
    if (buffer.role == BufferRole::loss_scale) {
      CheckpointTensor scale = tensor_of(step, program, buffer, updated, arena);
      const HostTensor here = HostTensor::read(device, *queue, scale.view);
      scale.view = here.view();
      // Without a loss scale no update was skipped.
      if (!checkpoint.read(scale, step.model))
        scale.view.as<double>()[2] = static_cast<double>(checkpoint.steps_done());
      here.write_back(*queue);
      continue;
    }
    if (!buffer.persistent || buffer.parameter < 0 || buffer.role == BufferRole::gradient) continue;
    CheckpointTensor tensor = tensor_of(step, program, buffer, updated, arena);
    const HostTensor here = HostTensor::to_write(device, tensor.view);
    tensor.view = here.view();
    if (!checkpoint.read(tensor, step.model))
      throw CheckpointError(checkpoint.directory() + ": lacks '" + buffer.name + "'");
    here.write_back(*queue);
  }
}

}  // namespace rankscope
