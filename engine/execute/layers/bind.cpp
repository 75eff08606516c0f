#include "engine/execute/layers/bind.hpp"

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>
#include <vector>

#include "engine/execute/layers/layers.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/model/gpt_rows.hpp"
#include "engine/plan/model/llama_rows.hpp"
#include "engine/plan/model/resnet_rows.hpp"

namespace rankscope {
namespace {

[[noreturn]] void refuse(const SegmentSpec& segment, const char* direction) {
  throw std::invalid_argument("there is no " + describe(segment, direction) +
                              ": only the model's own segments can be bound");
}

using Bind = Launch (*)(Binding);

/// The functions that bind a segment; null if there is none.
struct Implementation {
  Bind forward = nullptr, backward = nullptr;
};

/// One for each layer: a missing one does not compile.
struct ImplementationOf {
  constexpr Implementation operator()(const std::monostate&) const { return {}; }
  constexpr Implementation operator()(const layer::Embedding&) const { return {embedding_forward, embedding_backward}; }
  constexpr Implementation operator()(const layer::TokenEmbedding&) const {
    return {token_embedding_forward, token_embedding_backward};
  }
  constexpr Implementation operator()(const layer::Positions&) const { return {positions_forward, positions_backward}; }
  constexpr Implementation operator()(const layer::NormProduct&) const {
    return {norm_product_forward, norm_product_backward};
  }
  constexpr Implementation operator()(const layer::Attention&) const { return {attention_forward, attention_backward}; }
  constexpr Implementation operator()(const layer::ResidualProduct&) const {
    return {residual_product_forward, residual_product_backward};
  }
  constexpr Implementation operator()(const layer::Head&) const { return {head_forward, head_backward}; }
  constexpr Implementation operator()(const layer::StreamNorm&) const {
    return {stream_norm_forward, stream_norm_backward};
  }
  constexpr Implementation operator()(const layer::SplitProduct&) const {
    return {split_product_forward, split_product_backward};
  }
  constexpr Implementation operator()(const layer::PartialProduct&) const {
    return {partial_product_forward, partial_product_backward};
  }
  constexpr Implementation operator()(const layer::SumNorm&) const { return {sum_norm_forward, sum_norm_backward}; }
  constexpr Implementation operator()(const layer::Sum&) const { return {sum_forward, sum_backward}; }
  constexpr Implementation operator()(const layer::SplitHead&) const {
    return {split_head_forward, split_head_backward};
  }
  constexpr Implementation operator()(const layer::Loss&) const { return {loss_forward}; }
  constexpr Implementation operator()(const layer::Stem&) const { return {stem_forward, stem_backward}; }
  constexpr Implementation operator()(const layer::Pool&) const { return {pool_forward, pool_backward}; }
  constexpr Implementation operator()(const layer::FirstConvolution&) const { return {conv1_forward, conv1_backward}; }
  constexpr Implementation operator()(const layer::NormConvolution&) const {
    return {norm_convolution_forward, norm_convolution_backward};
  }
  constexpr Implementation operator()(const layer::ShortcutSum&) const {
    return {shortcut_sum_forward, shortcut_sum_backward};
  }
  constexpr Implementation operator()(const layer::Classifier&) const {
    return {classifier_forward, classifier_backward};
  }
};
constexpr Implementation implementation_of(const Layer& layer) { return std::visit(ImplementationOf{}, layer); }

template <std::size_t n>
constexpr bool are_bound(const SegmentRow (&rows)[n]) {
  for (const SegmentRow& row : rows) {
    const Implementation of = implementation_of(row.layer);
    if (of.forward == nullptr || (of.backward != nullptr) != row.has_backward()) return false;
  }
  return true;
}
static_assert(are_bound(gpt_rows::segments) && are_bound(gpt_rows::split_segments) && are_bound(llama_rows::segments) &&
                  are_bound(llama_rows::split_segments) && are_bound(resnet_rows::segments),
              "each segment of a model's table names its layer, and has a backward if that has one");

/// `into` has an entry for each of `parameters`, positions in the segment's list.
Launch bind_half(const Model& model, const SegmentSpec& segment, const char* direction, Half half,
                 const std::vector<int>& parameters, std::span<const View> operands, std::span<const IntoGradient> into,
                 const kernels::KernelSet& kernels, Workspace& workspace) {
  if (into.size() != parameters.size())
    throw std::invalid_argument(fmt::format("{} has {}, and it is stated for {} whether gradients are written or added",
                                            describe(segment, direction), counted(parameters.size(), "parameter"),
                                            into.size()));
  std::vector<IntoGradient> of_all(segment.parameters.size(), IntoGradient::write);
  for (std::size_t i = 0; i < parameters.size(); ++i) of_all[parameters[i]] = into[i];
  if (const Bind bind = implementation_of(segment.layer).backward)
    return bind({model, segment, kernels, workspace, Operands(model, segment, direction, operands), of_all, half});
  refuse(segment, direction);
}

}  // namespace

Launch bind_forward(const Model& model, const SegmentSpec& segment, std::span<const View> operands,
                    const kernels::KernelSet& kernels, Workspace& workspace) {
  if (const Bind bind = implementation_of(segment.layer).forward)
    return bind({model, segment, kernels, workspace, Operands(model, segment, "forward", operands), {}, {}});
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
