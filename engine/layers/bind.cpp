#include "engine/layers/bind.hpp"

#include <stdexcept>

#include "engine/layers/layers.hpp"

namespace rankscope {
namespace {

[[noreturn]] void refuse(const SegmentSpec& segment, const char* direction) {
  throw std::invalid_argument("there is no " + describe(segment, direction) +
                              ": only the model's own segments can be bound");
}

}  // namespace

Launch bind_forward(const Model& model, const SegmentSpec& segment, std::span<const View> operands,
                    const kernels::KernelSet& kernels, Workspace& workspace) {
  Binding binding{model, segment, kernels, workspace, Operands(model, segment, "forward", operands), {}};
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
    case Segment::update: break;
  }
  refuse(segment, "forward");
}

Launch bind_backward(const Model& model, const SegmentSpec& segment, std::span<const View> operands,
                     std::span<const IntoGradient> into, const kernels::KernelSet& kernels, Workspace& workspace) {
  if (into.size() != segment.parameters.size())
    throw std::invalid_argument(describe(segment, "backward") + " has " + std::to_string(segment.parameters.size()) +
                                " parameters and was told of " + std::to_string(into.size()) +
                                " whether to write or add their gradients");
  Binding binding{model, segment, kernels, workspace, Operands(model, segment, "backward", operands), into};
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
    case Segment::update: break;
  }
  refuse(segment, "backward");
}

}  // namespace rankscope
