#include "engine/plan/model/bytes.hpp"

namespace rankscope {
namespace {

double bytes_of(const std::vector<TensorSpec>& specs) {
  double bytes = 0;
  for (const TensorSpec& spec : specs) bytes += static_cast<double>(spec.bytes());
  return bytes;
}

}  // namespace

void count_bytes(SegmentSpec& segment, DType type, const TensorSpecs& tensors,
                 const std::vector<double>& parameter_elements) {
  const auto bytes_of_all = [&](const std::vector<TensorName>& names) {
    double bytes = 0;
    for (const TensorName name : names) bytes += static_cast<double>(tensors[static_cast<std::size_t>(name)].bytes());
    return bytes;
  };
  const auto gradient_bytes = [&](const std::vector<int>& which) {
    double elements = 0;
    for (const int i : which) elements += parameter_elements[i];
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

}  // namespace rankscope
