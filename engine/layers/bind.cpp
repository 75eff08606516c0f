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

/// Empty for a segment that no model has.
Launch choose_forward(const Binding& binding) {
  switch (binding.segment.kind) {
    case Segment::embedding: return embedding_forward(binding);
    case Segment::qkv: return qkv_forward(binding);
    case Segment::attention: return attention_forward(binding);
    case Segment::projection: return projection_forward(binding);
    case Segment::up: return up_forward(binding);
    case Segment::down: return down_forward(binding);
    case Segment::head: return head_forward(binding);
    case Segment::stem: return stem_forward(binding);
    case Segment::pool: return pool_forward(binding);
    case Segment::conv1: return conv1_forward(binding);
    case Segment::conv2: return conv2_forward(binding);
    case Segment::conv3: return conv3_forward(binding);
    case Segment::shortcut_sum: return shortcut_sum_forward(binding);
    case Segment::classifier: return classifier_forward(binding);
    case Segment::whole:
    case Segment::norm:
    case Segment::update:
    case Segment::accumulate:
    case Segment::loss_scale:
    case Segment::positions:
    case Segment::attention_norm:
    case Segment::mlp_norm:
    case Segment::output:
    case Segment::final_norm:
    case Segment::loss: break;
  }
  return {};
}

/// The same of tensor ranks.
Launch choose_split_forward(const Binding& binding) {
  switch (binding.segment.kind) {
    case Segment::embedding: return token_embedding_forward(binding);
    case Segment::positions: return positions_forward(binding);
    case Segment::attention_norm:
    case Segment::final_norm: return norm_forward(binding);
    case Segment::qkv: return split_qkv_forward(binding);
    case Segment::attention: return attention_forward(binding);
    case Segment::projection:
    case Segment::down: return partial_product_forward(binding);
    case Segment::mlp_norm: return mlp_norm_forward(binding);
    case Segment::up: return split_up_forward(binding);
    case Segment::output: return output_forward(binding);
    case Segment::head: return split_head_forward(binding);
    case Segment::loss: return loss_forward(binding);
    case Segment::stem:
    case Segment::pool:
    case Segment::conv1:
    case Segment::conv2:
    case Segment::conv3:
    case Segment::shortcut_sum:
    case Segment::classifier:
    case Segment::whole:
    case Segment::norm:
    case Segment::update:
    case Segment::accumulate:
    case Segment::loss_scale: break;
  }
  return {};
}

/// Empty for one that has no backward, too.
Launch choose_backward(const Binding& binding) {
  switch (binding.segment.kind) {
    case Segment::embedding: return embedding_backward(binding);
    case Segment::qkv: return qkv_backward(binding);
    case Segment::attention: return attention_backward(binding);
    case Segment::projection: return projection_backward(binding);
    case Segment::up: return up_backward(binding);
    case Segment::down: return down_backward(binding);
    case Segment::head: return head_backward(binding);
    case Segment::stem: return stem_backward(binding);
    case Segment::pool: return pool_backward(binding);
    case Segment::conv1: return conv1_backward(binding);
    case Segment::conv2: return conv2_backward(binding);
    case Segment::conv3: return conv3_backward(binding);
    case Segment::shortcut_sum: return shortcut_sum_backward(binding);
    case Segment::classifier: return classifier_backward(binding);
    case Segment::whole:
    case Segment::norm:
    case Segment::update:
    case Segment::accumulate:
    case Segment::loss_scale:
    case Segment::positions:
    case Segment::attention_norm:
    case Segment::mlp_norm:
    case Segment::output:
    case Segment::final_norm:
    case Segment::loss: break;
  }
  return {};
}

/// The same of tensor ranks.
Launch choose_split_backward(const Binding& binding) {
  switch (binding.segment.kind) {
    case Segment::embedding: return token_embedding_backward(binding);
    case Segment::positions: return positions_backward(binding);
    case Segment::attention_norm:
    case Segment::final_norm: return norm_backward(binding);
    case Segment::attention: return attention_backward(binding);
    case Segment::qkv:
    case Segment::projection:
    case Segment::up:
    case Segment::down: return split_product_backward(binding);
    case Segment::mlp_norm: return mlp_norm_backward(binding);
    case Segment::output: return output_backward(binding);
    case Segment::head: return split_head_backward(binding);
    case Segment::loss: break;
    case Segment::stem:
    case Segment::pool:
    case Segment::conv1:
    case Segment::conv2:
    case Segment::conv3:
    case Segment::shortcut_sum:
    case Segment::classifier:
    case Segment::whole:
    case Segment::norm:
    case Segment::update:
    case Segment::accumulate:
    case Segment::loss_scale: break;
  }
  return {};
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
  if (Launch launch = model.tensor > 1 ? choose_split_backward(binding) : choose_backward(binding)) return launch;
  refuse(segment, direction);
}

}  // namespace

Launch bind_forward(const Model& model, const SegmentSpec& segment, std::span<const View> operands,
                    const kernels::KernelSet& kernels, Workspace& workspace) {
  Binding binding{model, segment, kernels, workspace, Operands(model, segment, "forward", operands), {}, {}};
  if (Launch launch = model.tensor > 1 ? choose_split_forward(binding) : choose_forward(binding)) return launch;
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
