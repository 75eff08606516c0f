// The products of tensor ranks, each on its share of the matrix. Its rows (output columns) are independent, so that
// attention and activations need no communication: GELU(x·[A₁ A₂]) = [GELU(x·A₁) GELU(x·A₂)]. Its columns give parts of
// a sum, which an all-reduce adds up; only after that a bias may be added, once.
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
  Activation through = Activation::none;
  View x, before, weight, dx, dy, dweight, dbias;
  InputGradient input_gradient;
  kernels::Prepared<View, View, View, View> weight_gradient;

  /// `dx` is the gradient that the segment writes: of its input, or of the input of the activation that made that.
  void take(Binding& binding) {
    Operands& operands = binding.operands;
    const SegmentSpec& segment = binding.segment;
    half = binding.half;
    const bool biased = segment.parameters.size() > 1;
    dy = operands.tensor(segment.gradient_inputs.front());
    if (half.weight) x = operands.tensor(binding.input(0));
    if (half.input) {
      if (through != Activation::none) before = operands.tensor(segment.gradient_outputs.front());
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
    if (half.input) input_gradient = InputGradient(binding, spec, through);
    if (half.weight) {
      spec.result_type = accumulation_type(binding.model.type);
      spec.accumulate = binding.adds(0);
      spec.bias = dbias.data != nullptr;
      spec.accumulate_bias = spec.bias && binding.adds(1);
      weight_gradient = binding.prepare(&KernelSet::linear_weight_gradient, spec);
    }
  }
  /// The input's first: other ops wait for it.
  void launch(std::byte* temporaries, const kernels::Stream& stream) const {
    if (half.input) input_gradient.launch(dx, dy, weight, before, temporaries, stream);
    if (half.weight) weight_gradient.launch(dweight, dbias, dy, x, stream);
  }
};

Launch product_backward(Binding binding, Activation through) {
  ProductBackward product;
  product.through = through;
  product.take(binding);
  product.prepare(binding);
  return binding.launch([=](const LaunchContext&, std::byte* temporaries, const kernels::Stream& stream) {
    product.launch(temporaries, stream);
  });
}

}  // namespace

Launch split_product_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View normed = operands.tensor(binding.input(0));
  const auto [biased, activation] = binding.layer<layer::SplitProduct>();
  const View weight = operands.parameter(0), bias = take_bias(binding, biased, 1);
  const View result = operands.tensor(binding.output(0));
  const View activated = activation == Activation::none ? View{} : operands.tensor(binding.output(1));
  operands.finish();

  auto spec = linear_of(binding, weight);
  spec.bias = biased;
  const ActivatedProduct product(binding, spec, activation);
  return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    product.launch(activated, result, normed, weight, bias, stream);
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

Launch split_product_backward(Binding binding) { return product_backward(binding, Activation::none); }
Launch partial_product_backward(Binding binding) {
  return product_backward(binding, binding.layer<layer::PartialProduct>().before);
}

}  // namespace rankscope
