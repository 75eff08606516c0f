#include "engine/model/operands.hpp"

#include <cassert>

namespace rankscope {

TensorSpec tensor(TensorName name, const SegmentSizes& sizes) {
  const std::int64_t T = sizes.tokens(), h = sizes.width, share = sizes.width / sizes.tensor;
  const DType statistics = accumulation_type(sizes.type);
  switch (name) {
    case TensorName::tokens:
    case TensorName::targets: return {name, {T}, DType::i32};
    case TensorName::residual:
    case TensorName::norm1:
    case TensorName::middle:
    case TensorName::norm2:
    case TensorName::output:
    case TensorName::embedded_sum:
    case TensorName::projected_sum:
    case TensorName::contracted_sum: return {name, {sizes.stream_tokens, h}, sizes.type};
    case TensorName::mean1:
    case TensorName::rstd1:
    case TensorName::mean2:
    case TensorName::rstd2: return {name, {sizes.stream_tokens}, statistics};
    case TensorName::qkv: return {name, {T, 3 * share}, sizes.type};
    case TensorName::softmax: return {name, {sizes.samples, sizes.heads, sizes.context}, statistics};
    case TensorName::attended: return {name, {T, share}, sizes.type};
    case TensorName::pre_gelu:
    case TensorName::activated: return {name, {T, 4 * share}, sizes.type};
    case TensorName::logits: return {name, {T, sizes.vocabulary}, sizes.type};
    case TensorName::loss: return {name, {1}, DType::f64};
    case TensorName::embedded:
    case TensorName::norm1_all:
    case TensorName::projected:
    case TensorName::norm2_all:
    case TensorName::contracted: return {name, {T, h}, sizes.type};
    case TensorName::statistics: return {name, {T, 3}, statistics};
    case TensorName::statistics_all: return {name, {sizes.tensor, T, 3}, statistics};
    case TensorName::images:
    case TensorName::convolved1:
    case TensorName::convolved2:
    case TensorName::convolved3:
    case TensorName::shortcut:
    case TensorName::mean3:
    case TensorName::rstd3:
    case TensorName::mean_shortcut:
    case TensorName::rstd_shortcut:
    case TensorName::pooled_from:
    case TensorName::pooled: break;  // of residual networks
  }
  assert(false && "no tensor of a GPT");
  return {};
}

std::vector<TensorSpec> tensors(std::initializer_list<TensorName> names, const SegmentSizes& sizes) {
  std::vector<TensorSpec> specs;
  for (TensorName name : names) specs.push_back(tensor(name, sizes));
  return specs;
}

namespace {

double bytes_of(const std::vector<TensorSpec>& specs) {
  double bytes = 0;
  for (const TensorSpec& spec : specs) bytes += static_cast<double>(spec.bytes());
  return bytes;
}

}  // namespace

void count_bytes(SegmentSpec& segment, DType type, const std::function<double(TensorName)>& bytes_of_tensor,
                 const std::vector<double>& parameter_elements) {
  const auto bytes_of_all = [&](const std::vector<TensorName>& names) {
    double bytes = 0;
    for (const TensorName name : names) bytes += bytes_of_tensor(name);
    return bytes;
  };
  const auto gradient_bytes = [&](const std::vector<int>& which) {
    double elements = 0;
    for (const int i : which) elements += parameter_elements[static_cast<std::size_t>(i)];
    return elements * static_cast<double>(rankscope::bytes_of(accumulation_type(type)));
  };
  double elements = 0;
  for (const double e : parameter_elements) elements += e;
  const double parameters = elements * static_cast<double>(rankscope::bytes_of(type));
  const double gradients = elements * static_cast<double>(rankscope::bytes_of(accumulation_type(type)));
  segment.forward_bytes =
      bytes_of(segment.inputs) + parameters + bytes_of(segment.outputs) + bytes_of_all(segment.changed);
  if (!segment.has_backward()) return;
  const double read = segment.read_backward().empty() ? 0 : parameters;
  const double written = bytes_of_all(segment.gradient_outputs) + bytes_of_all(segment.added_gradients);
  segment.backward_bytes =
      bytes_of_all(segment.gradient_inputs) + bytes_of_all(segment.kept) + read + written + gradients;
  if (segment.has_input_gradient())
    segment.input_gradient_bytes = bytes_of_all(segment.gradient_inputs) + bytes_of_all(segment.input_kept) + read +
                                   written + gradient_bytes(segment.input_parameters);
  if (segment.has_weight_gradient())
    segment.weight_gradient_bytes = bytes_of_all(segment.weight_gradient_inputs) + bytes_of_all(segment.weight_kept) +
                                    gradient_bytes(segment.weight_parameters);
}

void count_bytes(SegmentSpec& segment, const SegmentSizes& sizes, const std::vector<double>& parameter_elements) {
  count_bytes(
      segment, sizes.type, [&](TensorName name) { return static_cast<double>(tensor(name, sizes).bytes()); },
      parameter_elements);
}

std::vector<double> elements_of(const SegmentSpec& segment, const std::vector<ParameterSpec>& parameters) {
  std::vector<double> elements;
  for (int index : segment.parameters) elements.push_back(static_cast<double>(parameters[index].shape.elements()));
  return elements;
}

void count_product(SegmentSpec& segment, const SegmentSizes& sizes, double in, double out) {
  const double product = 2.0 * static_cast<double>(sizes.tokens()) * in * out;
  segment.forward_flops = segment.input_gradient_flops = segment.weight_gradient_flops = product;
}

void count_attention(SegmentSpec& segment, const SegmentSizes& sizes) {
  const double scores = 2.0 * static_cast<double>(sizes.tokens()) * static_cast<double>(sizes.context) *
                        static_cast<double>(sizes.width / sizes.tensor);
  segment.forward_flops = 2 * scores;
  segment.input_gradient_flops = 4 * scores;
  segment.walked_bytes = static_cast<double>(sizes.heads * tensor(TensorName::qkv, sizes).bytes());
}

}  // namespace rankscope
