// Operands and costs of the segments.
//
// With T tokens in a micro-batch, s of them a sample, width h and vocabulary V, forward's products are (2·m·n·k each)
//
//   qkv 6Th²   attention 2Tsh (scores) + 2Tsh (values)   projection 2Th²   up 8Th²   down 8Th²   head 2ThV
//
// A product's input gradient costs as much again, and so does its weight gradient; attention has no weights, so its
// whole backward, twice its forward, is input gradient. Over L layers and a batch of B samples that makes
// 72BsLh²(1 + s/(6h) + V/(12Lh)), the form of Narayanan et al. 2021 (arXiv 2104.04473, appendix). Attention counts all
// s × s scores although causality needs only half of them, and lookups, norms, GELU and sums count nothing, as there.
#include "engine/model/segments.hpp"

#include <algorithm>
#include <cassert>

#include "engine/model/operands.hpp"

namespace rankscope {

SegmentSpec embedding_segment(const SegmentSizes& sizes, int wte, int wpe) {
  using enum TensorName;
  SegmentSpec segment;
  segment.kind = Segment::embedding;
  segment.parameters = {wte, wpe};
  segment.inputs = tensors({tokens}, sizes);
  segment.outputs = tensors({output}, sizes);
  segment.gradient_inputs = {output};
  segment.kept = {tokens};
  segment.weight_gradient_inputs = {output};
  segment.weight_kept = {tokens};
  segment.weight_parameters = {0, 1};
  // Of the token embedding only the rows of the micro-batch's tokens are touched: at most one per token.
  const std::int64_t rows = std::min(sizes.tokens(), sizes.vocabulary);
  count_bytes(segment, sizes,
              {static_cast<double>(rows * sizes.width), static_cast<double>(sizes.context * sizes.width)});
  return segment;
}

SegmentSpec block_segment(Segment kind, int block, const SegmentSizes& sizes,
                          const std::vector<ParameterSpec>& parameters, int first) {
  using enum TensorName;
  const auto h = static_cast<double>(sizes.width);
  SegmentSpec segment;
  segment.kind = kind;
  segment.block = block;
  switch (kind) {
    case Segment::qkv:
      segment.parameters = {first + ln_1_weight, first + ln_1_bias, first + c_attn_weight, first + c_attn_bias};
      segment.inputs = tensors({residual}, sizes);
      segment.outputs = tensors({mean1, rstd1, norm1, TensorName::qkv}, sizes);
      segment.gradient_inputs = {TensorName::qkv, middle};
      segment.kept = {residual, mean1, rstd1, norm1};
      segment.gradient_outputs = {residual};
      segment.input_kept = {residual, mean1, rstd1};
      segment.input_parameters = {0, 1};
      segment.weight_gradient_inputs = {TensorName::qkv};
      segment.weight_kept = {norm1};
      segment.weight_parameters = {2, 3};
      count_product(segment, sizes, h, 3 * h);
      break;
    case Segment::attention:
      segment.inputs = tensors({TensorName::qkv}, sizes);
      segment.outputs = tensors({softmax, attended}, sizes);
      segment.gradient_inputs = {attended};
      segment.kept = {TensorName::qkv, softmax, attended};
      segment.gradient_outputs = {TensorName::qkv};
      segment.input_kept = segment.kept;
      count_attention(segment, sizes);
      break;
    case Segment::projection:
      segment.parameters = {first + attn_c_proj_weight, first + attn_c_proj_bias};
      segment.inputs = tensors({attended, residual}, sizes);
      segment.outputs = tensors({middle}, sizes);
      segment.gradient_inputs = {middle};
      segment.kept = {attended};
      segment.gradient_outputs = {attended};
      segment.weight_gradient_inputs = {middle};
      segment.weight_kept = {attended};
      segment.weight_parameters = {0, 1};
      count_product(segment, sizes, h, h);
      break;
    case Segment::up:
      segment.parameters = {first + ln_2_weight, first + ln_2_bias, first + c_fc_weight, first + c_fc_bias};
      segment.inputs = tensors({middle}, sizes);
      segment.outputs = tensors({mean2, rstd2, norm2, pre_gelu, activated}, sizes);
      segment.gradient_inputs = {pre_gelu, output};
      segment.kept = {middle, mean2, rstd2, norm2};
      segment.gradient_outputs = {middle};
      segment.input_kept = {middle, mean2, rstd2};
      segment.input_parameters = {0, 1};
      segment.weight_gradient_inputs = {pre_gelu};
      segment.weight_kept = {norm2};
      segment.weight_parameters = {2, 3};
      count_product(segment, sizes, h, 4 * h);
      break;
    case Segment::down:
      segment.parameters = {first + mlp_c_proj_weight, first + mlp_c_proj_bias};
      segment.inputs = tensors({activated, middle}, sizes);
      segment.outputs = tensors({output}, sizes);
      segment.gradient_inputs = {output};
      segment.kept = {activated, pre_gelu};
      segment.gradient_outputs = {pre_gelu};
      segment.input_kept = {pre_gelu};
      segment.weight_gradient_inputs = {output};
      segment.weight_kept = {activated};
      segment.weight_parameters = {0, 1};
      count_product(segment, sizes, 4 * h, h);
      break;
    case Segment::whole:
    case Segment::embedding:
    case Segment::head:
    case Segment::norm:
    case Segment::update:
    case Segment::accumulate:
    case Segment::loss_scale:
    case Segment::positions:
    case Segment::attention_norm:
    case Segment::mlp_norm:
    case Segment::output:
    case Segment::final_norm:
    case Segment::stem:
    case Segment::pool:
    case Segment::conv1:
    case Segment::conv2:
    case Segment::conv3:
    case Segment::shortcut_sum:
    case Segment::classifier:
    case Segment::loss: assert(false && "not a segment of a block");
  }
  count_bytes(segment, sizes, elements_of(segment, parameters));
  return segment;
}

SegmentSpec head_segment(const SegmentSizes& sizes, const std::vector<ParameterSpec>& parameters, int ln_f_weight,
                         int ln_f_bias, int matrix) {
  using enum TensorName;
  SegmentSpec segment;
  segment.kind = Segment::head;
  segment.parameters = {ln_f_weight, ln_f_bias, matrix};
  segment.inputs = tensors({residual, targets}, sizes);
  segment.outputs = tensors({mean1, rstd1, norm1, logits, loss}, sizes);
  segment.kept = {residual, mean1, rstd1, norm1, logits};
  segment.gradient_outputs = {residual};
  segment.input_kept = {residual, mean1, rstd1, logits};
  segment.input_parameters = {0, 1};
  segment.weight_kept = {norm1, logits};
  segment.weight_parameters = {2};
  count_product(segment, sizes, static_cast<double>(sizes.width), static_cast<double>(sizes.vocabulary));
  count_bytes(segment, sizes, elements_of(segment, parameters));
  return segment;
}

}  // namespace rankscope
