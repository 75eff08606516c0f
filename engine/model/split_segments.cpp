// The segments of tensor ranks: products on a rank's share, and between them what all have alike, or each for its rows.
#include <algorithm>
#include <cassert>

#include "engine/model/operands.hpp"

namespace rankscope {
namespace {

using enum TensorName;

/// A layer norm alone, before attention or the head.
void add_norm(SegmentSpec& segment, const SegmentSizes& sizes) {
  segment.inputs = tensors({residual}, sizes);
  segment.outputs = tensors({mean1, rstd1, norm1}, sizes);
  segment.gradient_inputs = {norm1};
  segment.kept = segment.input_kept = {residual, mean1, rstd1};
  segment.gradient_outputs = {residual};
  segment.input_parameters = {0, 1};
}

/// A product without bias, whose results are parts of a sum.
void add_partial_product(SegmentSpec& segment, const SegmentSizes& sizes, TensorName in, TensorName out) {
  segment.inputs = tensors({in}, sizes);
  segment.outputs = tensors({out}, sizes);
  segment.gradient_inputs = segment.weight_gradient_inputs = {out};
  segment.kept = segment.weight_kept = {in};
  segment.gradient_outputs = {in};
  segment.weight_parameters = {0};
}

}  // namespace

std::vector<Exchange> exchanges_of(bool sequence_parallel) {
  using enum OpKind;
  const Exchange combined{statistics, statistics_all, all_gather, std::nullopt, Purpose::loss};
  if (!sequence_parallel)
    return {{embedded, embedded, all_reduce, std::nullopt},     {norm1, norm1, std::nullopt, all_reduce},
            {projected, projected, all_reduce, std::nullopt},   {norm2, norm2, std::nullopt, all_reduce},
            {contracted, contracted, all_reduce, std::nullopt}, combined};
  return {{embedded, embedded_sum, reduce_scatter, all_gather},     {norm1, norm1_all, all_gather, reduce_scatter},
          {projected, projected_sum, reduce_scatter, all_gather},   {norm2, norm2_all, all_gather, reduce_scatter},
          {contracted, contracted_sum, reduce_scatter, all_gather}, combined};
}

SegmentSpec SplitSegments::embedding(int wte) const {
  SegmentSpec segment;
  segment.kind = Segment::embedding;
  segment.parameters = {wte};
  segment.inputs = tensors({tokens}, sizes);
  segment.outputs = tensors({embedded}, sizes);
  segment.gradient_inputs = segment.weight_gradient_inputs = {embedded};
  segment.kept = segment.weight_kept = {tokens};
  segment.weight_parameters = {0};
  const std::int64_t rows = std::min(sizes.tokens(), sizes.vocabulary);
  count_bytes(segment, sizes, {static_cast<double>(rows * sizes.width)});
  return segment;
}

SegmentSpec SplitSegments::positions(int wpe) const {
  const TensorName summed = parallel ? embedded_sum : embedded;
  SegmentSpec segment;
  segment.kind = Segment::positions;
  segment.parameters = {wpe};
  segment.inputs = tensors({summed}, sizes);
  segment.outputs = tensors({TensorName::output}, sizes);
  segment.gradient_inputs = {TensorName::output};
  segment.gradient_outputs = {summed};
  segment.input_parameters = {0};
  count_bytes(segment, sizes, elements_of(segment, parameters));
  return segment;
}

SegmentSpec SplitSegments::of_block(Segment kind, int block, int first) const {
  const auto h = static_cast<double>(sizes.width), share = h / static_cast<double>(sizes.tensor);
  const TensorName normed1 = parallel ? norm1_all : norm1, normed2 = parallel ? norm2_all : norm2;
  SegmentSpec segment;
  segment.kind = kind;
  segment.block = block;
  switch (kind) {
    case Segment::attention_norm:
      segment.parameters = {first + ln_1_weight, first + ln_1_bias};
      add_norm(segment, sizes);
      segment.gradient_inputs.push_back(middle);
      break;
    case Segment::qkv:
      segment.parameters = {first + c_attn_weight, first + c_attn_bias};
      segment.inputs = tensors({normed1}, sizes);
      segment.outputs = tensors({TensorName::qkv}, sizes);
      segment.gradient_inputs = segment.weight_gradient_inputs = {TensorName::qkv};
      segment.kept = segment.weight_kept = {normed1};
      segment.gradient_outputs = {normed1};
      segment.weight_parameters = {0, 1};
      count_product(segment, sizes, h, 3 * share);
      break;
    case Segment::attention:
      segment.inputs = tensors({TensorName::qkv}, sizes);
      segment.outputs = tensors({softmax, attended}, sizes);
      segment.gradient_inputs = {attended};
      segment.kept = segment.input_kept = {TensorName::qkv, softmax, attended};
      segment.gradient_outputs = {TensorName::qkv};
      count_attention(segment, sizes);
      break;
    case Segment::projection:
      segment.parameters = {first + attn_c_proj_weight};
      add_partial_product(segment, sizes, attended, projected);
      count_product(segment, sizes, share, h);
      break;
    case Segment::mlp_norm: {
      const TensorName summed = parallel ? projected_sum : projected;
      segment.parameters = {first + attn_c_proj_bias, first + ln_2_weight, first + ln_2_bias};
      segment.inputs = tensors({summed, residual}, sizes);
      segment.outputs = tensors({middle, mean2, rstd2, norm2}, sizes);
      segment.gradient_inputs = {norm2, TensorName::output};
      segment.kept = segment.input_kept = {middle, mean2, rstd2};
      segment.gradient_outputs = {middle, summed};
      segment.input_parameters = {0, 1, 2};
      break;
    }
    case Segment::up:
      segment.parameters = {first + c_fc_weight, first + c_fc_bias};
      segment.inputs = tensors({normed2}, sizes);
      segment.outputs = tensors({pre_gelu, activated}, sizes);
      segment.gradient_inputs = segment.weight_gradient_inputs = {pre_gelu};
      segment.kept = segment.weight_kept = {normed2};
      segment.gradient_outputs = {normed2};
      segment.weight_parameters = {0, 1};
      count_product(segment, sizes, h, 4 * share);
      break;
    case Segment::down:
      segment.parameters = {first + mlp_c_proj_weight};
      add_partial_product(segment, sizes, activated, contracted);
      segment.gradient_outputs = segment.input_kept = {pre_gelu};
      segment.kept.push_back(pre_gelu);
      count_product(segment, sizes, 4 * share, h);
      break;
    case Segment::output: {
      const TensorName summed = parallel ? contracted_sum : contracted;
      segment.parameters = {first + mlp_c_proj_bias};
      segment.inputs = tensors({summed, middle}, sizes);
      segment.outputs = tensors({TensorName::output}, sizes);
      segment.gradient_inputs = {TensorName::output};
      segment.gradient_outputs = {summed};
      segment.input_parameters = {0};
      break;
    }
    case Segment::whole:
    case Segment::embedding:
    case Segment::positions:
    case Segment::final_norm:
    case Segment::head:
    case Segment::stem:
    case Segment::pool:
    case Segment::conv1:
    case Segment::conv2:
    case Segment::conv3:
    case Segment::shortcut_sum:
    case Segment::classifier:
    case Segment::loss:
    case Segment::norm:
    case Segment::update:
    case Segment::accumulate:
    case Segment::loss_scale: assert(false && "not a segment of a tensor rank's block");
  }
  count_bytes(segment, sizes, elements_of(segment, parameters));
  return segment;
}

SegmentSpec SplitSegments::final_norm(int ln_f_weight, int ln_f_bias) const {
  SegmentSpec segment;
  segment.kind = Segment::final_norm;
  segment.parameters = {ln_f_weight, ln_f_bias};
  add_norm(segment, sizes);
  count_bytes(segment, sizes, elements_of(segment, parameters));
  return segment;
}

SegmentSpec SplitSegments::head(int matrix) const {
  const TensorName normed = parallel ? norm1_all : norm1;
  SegmentSpec segment;
  segment.kind = Segment::head;
  segment.parameters = {matrix};
  segment.inputs = tensors({normed, targets}, sizes);
  segment.outputs = tensors({logits, statistics}, sizes);
  segment.kept = segment.weight_kept = {normed, logits};
  segment.gradient_outputs = {normed};
  segment.input_kept = {logits};
  segment.weight_parameters = {0};
  count_product(segment, sizes, static_cast<double>(sizes.width), words / static_cast<double>(sizes.tensor));
  count_bytes(segment, sizes, elements_of(segment, parameters));
  return segment;
}

SegmentSpec SplitSegments::loss() const {
  SegmentSpec segment;
  segment.kind = Segment::loss;
  segment.inputs = tensors({statistics_all, targets}, sizes);
  segment.outputs = tensors({logits, TensorName::loss}, sizes);
  segment.changed = {logits};
  count_bytes(segment, sizes, {});
  return segment;
}

}  // namespace rankscope
