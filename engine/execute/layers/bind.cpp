#include "engine/execute/layers/bind.hpp"

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>
#include <vector>

#include "engine/execute/layers/layers.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/model/gpt_rows.hpp"
#include "engine/plan/model/resnet_rows.hpp"

namespace rankscope {
namespace {

[[noreturn]] void refuse(const SegmentSpec& segment, const char* direction) {
  throw std::invalid_argument("there is no " + describe(segment, direction) +
                              ": only the model's own segments can be bound");
}

using Bind = Launch (*)(Binding);

/// The functions that bind a segment: for one rank, and for tensor ranks. Null if there is none.
struct Implementation {
  Segment segment;
  Bind forward = nullptr, backward = nullptr;
  Bind split_forward = nullptr, split_backward = nullptr;
};

constexpr Implementation implementations[] = {
    {Segment::embedding, embedding_forward, embedding_backward, token_embedding_forward, token_embedding_backward},
    {Segment::positions, nullptr, nullptr, positions_forward, positions_backward},
    {Segment::attention_norm, nullptr, nullptr, norm_forward, norm_backward},
    {Segment::qkv, norm_product_forward, norm_product_backward, split_product_forward, split_product_backward},
    {Segment::attention, attention_forward, attention_backward, attention_forward, attention_backward},
    {Segment::projection, residual_product_forward, residual_product_backward, partial_product_forward,
     split_product_backward},
    {Segment::mlp_norm, nullptr, nullptr, mlp_norm_forward, mlp_norm_backward},
    {Segment::up, norm_product_forward, norm_product_backward, split_product_forward, split_product_backward},
    {Segment::down, residual_product_forward, residual_product_backward, partial_product_forward,
     split_product_backward},
    {Segment::output, nullptr, nullptr, output_forward, output_backward},
    {Segment::final_norm, nullptr, nullptr, norm_forward, norm_backward},
    {Segment::head, head_forward, head_backward, split_head_forward, split_head_backward},
    {Segment::loss, nullptr, nullptr, loss_forward, nullptr},
    {Segment::stem, stem_forward, stem_backward},
    {Segment::pool, pool_forward, pool_backward},
    {Segment::conv1, conv1_forward, conv1_backward},
    {Segment::conv2, norm_convolution_forward, norm_convolution_backward},
    {Segment::conv3, norm_convolution_forward, norm_convolution_backward},
    {Segment::shortcut_sum, shortcut_sum_forward, shortcut_sum_backward},
    {Segment::classifier, classifier_forward, classifier_backward},
};

/// By segment; null for segments that no model has.
constexpr Implementation implementation_of(Segment segment) {
  for (const Implementation& row : implementations)
    if (row.segment == segment) return row;
  return {segment};
}

constexpr bool binds(const SegmentRow& row, Bind forward, Bind backward) {
  return forward != nullptr && (backward != nullptr) == row.has_backward();
}
template <std::size_t n>
constexpr bool are_bound(const SegmentRow (&rows)[n], bool split) {
  for (const SegmentRow& row : rows) {
    const Implementation of = implementation_of(row.kind);
    if (!(split ? binds(row, of.split_forward, of.split_backward) : binds(row, of.forward, of.backward))) return false;
  }
  return true;
}
static_assert(are_bound(gpt_rows::segments, false) && are_bound(gpt_rows::split_segments, true) &&
                  are_bound(resnet_rows::segments, false),
              "each segment of a model's table has a row in `implementations`");

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
  const Implementation of = implementation_of(segment.kind);
  if (const Bind bind = model.tensor > 1 ? of.split_backward : of.backward)
    return bind({model, segment, kernels, workspace, Operands(model, segment, direction, operands), of_all, half});
  refuse(segment, direction);
}

}  // namespace

Launch bind_forward(const Model& model, const SegmentSpec& segment, std::span<const View> operands,
                    const kernels::KernelSet& kernels, Workspace& workspace) {
  const Implementation of = implementation_of(segment.kind);
  if (const Bind bind = model.tensor > 1 ? of.split_forward : of.forward)
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
