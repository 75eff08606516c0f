#include "engine/layers/bind.hpp"

#include <numeric>
#include <stdexcept>
#include <vector>

#include "engine/layers/layers.hpp"

namespace rankscope {
namespace {

[[noreturn]] void refuse(const SegmentSpec& segment, const char* direction) {
  throw std::invalid_argument("there is no " + describe(segment, direction) +
                              ": only the model's own segments can be bound");
}

/// `into` has an entry for each of `parameters`, positions in the segment's list.
Launch bind_half(const Model& model, const SegmentSpec& segment, const char* direction, Half half,
                 const std::vector<int>& parameters, std::span<const View> operands, std::span<const IntoGradient> into,
                 const kernels::KernelSet& kernels, Workspace& workspace) {
  if (into.size() != parameters.size())
    throw std::invalid_argument(describe(segment, direction) + " has " + std::to_string(parameters.size()) +
                                " parameters and was told of " + std::to_string(into.size()) +
                                " whether to write or add their gradients");
  std::vector<IntoGradient> of_all(segment.parameters.size(), IntoGradient::write);
  for (std::size_t i = 0; i < parameters.size(); ++i) of_all[static_cast<std::size_t>(parameters[i])] = into[i];
  Binding binding{model, segment, kernels, workspace, Operands(model, segment, direction, operands), of_all, half};
  switch (segment.kind) {
    case Segment::embedding: return embedding_backward(binding);
    case Segment::qkv: return qkv_backward(binding);
    case Segment::attention: return attention_backward(binding);
    case Segment::projection: return projection_backward(binding);
    case Segment::up: return up_backward(binding);
    case Segment::down: return down_backward(binding);
    case Segment::head: return head_backward(binding);
    case Segment::whole:
    case Segment::norm:
    case Segment::update:
    case Segment::accumulate: break;
  }
  refuse(segment, direction);
}

}  // namespace

Launch bind_forward(const Model& model, const SegmentSpec& segment, std::span<const View> operands,
                    const kernels::KernelSet& kernels, Workspace& workspace) {
  Binding binding{model, segment, kernels, workspace, Operands(model, segment, "forward", operands), {}, {}};
  switch (segment.kind) {
    case Segment::embedding: return embedding_forward(binding);
    case Segment::qkv: return qkv_forward(binding);
    case Segment::attention: return attention_forward(binding);
    case Segment::projection: return projection_forward(binding);
    case Segment::up: return up_forward(binding);
    case Segment::down: return down_forward(binding);
    case Segment::head: return head_forward(binding);
    case Segment::whole:
    case Segment::norm:
    case Segment::update:
    case Segment::accumulate: break;
  }
  refuse(segment, "forward");
}

Launch bind_backward(const Model& model, const SegmentSpec& segment, std::span<const View> operands,
                     std::span<const IntoGradient> into, const kernels::KernelSet& kernels, Workspace& workspace) {
  std::vector<int> all(segment.parameters.size());
  std::iota(all.begin(), all.end(), 0);
  return bind_half(model, segment, "backward", {}, all, operands, into, kernels, workspace);
}

Launch bind_input_gradient(const Model& model, const SegmentSpec& segment, std::span<const View> operands,
                           std::span<const IntoGradient> into, const kernels::KernelSet& kernels,
                           Workspace& workspace) {
  const char* const direction = "input gradient";
  if (!segment.has_input_gradient()) refuse(segment, direction);
  return bind_half(model, segment, direction, {true, false}, segment.input_parameters, operands, into, kernels,
                   workspace);
}

Launch bind_weight_gradient(const Model& model, const SegmentSpec& segment, std::span<const View> operands,
                            std::span<const IntoGradient> into, const kernels::KernelSet& kernels,
                            Workspace& workspace) {
  const char* const direction = "weight gradient";
  if (!segment.has_weight_gradient()) refuse(segment, direction);
  return bind_half(model, segment, direction, {false, true}, segment.weight_parameters, operands, into, kernels,
                   workspace);
}

}  // namespace rankscope
