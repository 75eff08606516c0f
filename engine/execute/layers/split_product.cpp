// The products of tensor ranks, each on its share of the matrix. Its rows (output columns) are independent, so that
// attention and GELU need no communication: GELU(x·[A₁ A₂]) = [GELU(x·A₁) GELU(x·A₂)]. Its columns give parts of a sum,
// which an all-reduce adds up; only after that a bias may be added, once.
#include "engine/execute/layers/layers.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;

kernels::LinearSpec linear_of(const Binding& binding, const View& weight) {
  return {.type = binding.model.type,
          .result_type = binding.model.type,
          .rows = binding.tokens(),
          .in = weight.shape[1],
          .out = weight.shape[0]};
}

/// Both gradients of a product, or one of them; the weight is the segment's first parameter, its bias, if it has one
/// here, the second. The operands are in the order of the model's table.
struct ProductBackward {
  Half half;
  View x, before, weight, dx, dy, dweight, dbias;
  InputGradient input_gradient;
  kernels::Prepared<View, View, View, View> weight_gradient;

  /// `dx` is the gradient that the segment writes: of its input, or of the GELU's input if its input is a GELU.
  void take(Binding& binding) {
    Operands& operands = binding.operands;
    const SegmentSpec& segment = binding.segment;
    half = binding.half;
    const bool biased = segment.parameters.size() > 1;
    dy = operands.tensor(segment.gradient_inputs.front());
    if (half.weight) x = operands.tensor(binding.input(0));
    if (half.input) {
      if (through_gelu(segment)) before = operands.tensor(segment.gradient_outputs.front());
      weight = operands.parameter(0);
      if (biased) operands.parameter(1);
      dx = operands.tensor(segment.gradient_outputs.front());
    }
    if (half.weight) {
      dweight = operands.gradient(0);
      if (biased) dbias = operands.gradient(1);
    }
    operands.finish();
  }

  void prepare(Binding& binding) {
    kernels::LinearSpec spec = linear_of(binding, half.input ? weight : dweight);
    if (half.input) {
      input_gradient = InputGradient(binding, spec, through_gelu(binding.segment));
    }
    if (half.weight) {
      spec.result_type = accumulation_type(binding.model.type);
      spec.accumulate = binding.adds(0);
      spec.bias = dbias.data != nullptr;
      spec.accumulate_bias = spec.bias && binding.adds(1);
      weight_gradient = binding.prepare(&KernelSet::linear_weight_gradient, spec);
    }
  }
  /// The input's first: other ops wait for it.
  void launch(const kernels::Stream& stream) const {
    if (half.input) input_gradient.launch(dx, dy, weight, before, stream);
    if (half.weight) weight_gradient.launch(dweight, dbias, dy, x, stream);
  }

 private:
  static bool through_gelu(const SegmentSpec& segment) { return segment.does(Work::gelu_slope); }
};

}  // namespace

Launch split_product_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View normed = operands.tensor(binding.input(0));
  const View weight = operands.parameter(0), bias = operands.parameter(1);
  const View result = operands.tensor(binding.output(0));
  const bool gelu = binding.segment.does(Work::gelu);
  const View activated = gelu ? operands.tensor(binding.output(1)) : View{};
  operands.finish();

  auto spec = linear_of(binding, weight);
  spec.bias = true;
  const auto linear = binding.prepare(gelu ? &KernelSet::linear_gelu_forward : &KernelSet::linear_forward, spec);
  return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    if (gelu)
      linear.launch(activated, result, normed, weight, bias, stream);
    else
      linear.launch(result, normed, weight, bias, View{}, stream);
  });
}

Launch partial_product_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View x = operands.tensor(binding.input(0)), weight = operands.parameter(0);
  const View y = operands.tensor(binding.output(0));
  operands.finish();

  auto linear = binding.prepare(&KernelSet::linear_forward, linear_of(binding, weight));
  return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    linear.launch(y, x, weight, View{}, View{}, stream);
  });
}

Launch split_product_backward(Binding binding) {
  ProductBackward product;
  product.take(binding);
  product.prepare(binding);
  return binding.launch(
      [=](const LaunchContext&, std::byte*, const kernels::Stream& stream) { product.launch(stream); });
}

}  // namespace rankscope
