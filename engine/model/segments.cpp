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

namespace rankscope {
namespace {

TensorSpec tensor(TensorName name, const SegmentSizes& sizes) {
  const std::int64_t T = sizes.tokens(), h = sizes.width;
  const DType statistics = accumulation_type(sizes.type);
  switch (name) {
    case TensorName::tokens:
    case TensorName::targets: return {name, {T}, DType::i32};
    case TensorName::residual:
    case TensorName::norm1:
    case TensorName::attended:
    case TensorName::middle:
    case TensorName::norm2:
    case TensorName::output: return {name, {T, h}, sizes.type};
    case TensorName::mean1:
    case TensorName::rstd1:
    case TensorName::mean2:
    case TensorName::rstd2: return {name, {T}, statistics};
    case TensorName::qkv: return {name, {T, 3 * h}, sizes.type};
    case TensorName::softmax: return {name, {sizes.samples, sizes.heads, sizes.context}, statistics};
    case TensorName::pre_gelu:
    case TensorName::activated: return {name, {T, 4 * h}, sizes.type};
    case TensorName::logits: return {name, {T, sizes.vocabulary}, sizes.type};
    case TensorName::loss: return {name, {1}, DType::f64};
  }
  assert(false && "a tensor without a shape");
  return {};
}

std::vector<TensorSpec> tensors(std::initializer_list<TensorName> names, const SegmentSizes& sizes) {
  std::vector<TensorSpec> specs;
  for (TensorName name : names) specs.push_back(tensor(name, sizes));
  return specs;
}

double bytes_of(const std::vector<TensorSpec>& specs) {
  double bytes = 0;
  for (const TensorSpec& spec : specs) bytes += static_cast<double>(spec.bytes());
  return bytes;
}

double bytes_of(const std::vector<TensorName>& names, const SegmentSizes& sizes) {
  double bytes = 0;
  for (TensorName name : names) bytes += static_cast<double>(tensor(name, sizes).bytes());
  return bytes;
}

/// Each operand once. `parameter_elements[i]` is how many elements of its parameter i the segment touches. Gradients of
/// activations have the activations' type, gradients of parameters the accumulation type.
void count_bytes(SegmentSpec& segment, const SegmentSizes& sizes, const std::vector<double>& parameter_elements) {
  const auto gradient_bytes = [&](const std::vector<int>& which) {
    double elements = 0;
    for (const int i : which) elements += parameter_elements[static_cast<std::size_t>(i)];
    return elements * static_cast<double>(bytes_of(accumulation_type(sizes.type)));
  };
  double elements = 0;
  for (const double e : parameter_elements) elements += e;
  const double parameters = elements * static_cast<double>(bytes_of(sizes.type));
  const double gradients = elements * static_cast<double>(bytes_of(accumulation_type(sizes.type)));
  segment.forward_bytes = bytes_of(segment.inputs) + parameters + bytes_of(segment.outputs);
  segment.backward_bytes = bytes_of(segment.gradient_inputs, sizes) + bytes_of(segment.kept, sizes) + parameters +
                           bytes_of(segment.gradient_outputs, sizes) + gradients;
  if (segment.has_input_gradient())
    segment.input_gradient_bytes = bytes_of(segment.gradient_inputs, sizes) + bytes_of(segment.input_kept, sizes) +
                                   parameters + bytes_of(segment.gradient_outputs, sizes) +
                                   bytes_of(segment.handed_on, sizes) + gradient_bytes(segment.input_parameters);
  if (segment.has_weight_gradient())
    segment.weight_gradient_bytes = bytes_of(segment.weight_gradient_inputs, sizes) +
                                    bytes_of(segment.weight_kept, sizes) + gradient_bytes(segment.weight_parameters);
}

std::vector<double> elements_of(const SegmentSpec& segment, const std::vector<ParameterSpec>& parameters) {
  std::vector<double> elements;
  for (int index : segment.parameters) elements.push_back(static_cast<double>(parameters[index].shape.elements()));
  return elements;
}

/// FLOPs of y = x·wᵀ on all tokens, forward and both halves of backward.
void count_product(SegmentSpec& segment, const SegmentSizes& sizes, std::int64_t in, std::int64_t out) {
  const double product = 2.0 * static_cast<double>(sizes.tokens()) * static_cast<double>(in) * static_cast<double>(out);
  segment.forward_flops = segment.input_gradient_flops = segment.weight_gradient_flops = product;
}

}  // namespace

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
  const std::int64_t h = sizes.width;
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
    case Segment::attention: {
      segment.inputs = tensors({TensorName::qkv}, sizes);
      segment.outputs = tensors({softmax, attended}, sizes);
      segment.gradient_inputs = {attended};
      segment.kept = {TensorName::qkv, softmax, attended};
      segment.gradient_outputs = {TensorName::qkv};
      segment.input_kept = segment.kept;
      const double scores =
          2.0 * static_cast<double>(sizes.tokens()) * static_cast<double>(sizes.context) * static_cast<double>(h);
      segment.forward_flops = 2 * scores;
      segment.input_gradient_flops = 4 * scores;
      break;
    }
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
      segment.gradient_inputs = {activated, output};
      segment.kept = {middle, mean2, rstd2, norm2, pre_gelu};
      segment.gradient_outputs = {middle};
      segment.input_kept = {middle, mean2, rstd2, pre_gelu};
      segment.handed_on = {pre_gelu};
      segment.input_parameters = {0, 1, 3};
      segment.weight_gradient_inputs = {pre_gelu};
      segment.weight_kept = {norm2};
      segment.weight_parameters = {2};
      count_product(segment, sizes, h, 4 * h);
      break;
    case Segment::down:
      segment.parameters = {first + mlp_c_proj_weight, first + mlp_c_proj_bias};
      segment.inputs = tensors({activated, middle}, sizes);
      segment.outputs = tensors({output}, sizes);
      segment.gradient_inputs = {output};
      segment.kept = {activated};
      segment.gradient_outputs = {activated};
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
    case Segment::accumulate: assert(false && "not a segment of a block");
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
  count_product(segment, sizes, sizes.width, sizes.vocabulary);
  count_bytes(segment, sizes, elements_of(segment, parameters));
  return segment;
}

}  // namespace rankscope
