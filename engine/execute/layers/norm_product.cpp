// Layer norm and a product, optionally followed by GELU.
#include "engine/execute/layers/layers.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;

kernels::NormSpec norm_of(const Binding& binding) {
  return {.type = binding.model.type, .rows = binding.tokens(), .width = binding.width()};
}

kernels::LinearSpec linear_of(const Binding& binding, std::int64_t out) {
  return {.type = binding.model.type,
          .result_type = binding.model.type,
          .rows = binding.tokens(),
          .in = binding.width(),
          .out = out,
          .bias = true};
}

/// Backward of norm and product, from the gradient of the product's result to the gradients of everything before it.
struct NormProductBackward {
  Half half;
  View dresidual;  ///< written: the gradient of the norm's input, with the residual branch's added
  View branch;     ///< read: the gradient of the residual branch
  View x, mean, rstd, norm, norm_weight, weight;
  View dnorm_weight, dnorm_bias, dweight, dbias;
  std::int64_t dnorm_at = 0;
  kernels::Prepared<View, View, View> input_gradient;
  kernels::Prepared<View, View, View, View> weight_gradient;
  kernels::Prepared<View, View, View, View, View, View, View, View, View> norm_backward;

  void prepare(Binding& binding, std::int64_t out) {
    auto linear = linear_of(binding, out);
    if (half.input) {
      input_gradient = binding.prepare(&KernelSet::linear_input_gradient, linear);
      auto norm_spec = norm_of(binding);
      norm_spec.residual = true;
      norm_spec.accumulate_weight = binding.adds(0);
      norm_spec.accumulate_bias = binding.adds(1);
      norm_backward = binding.prepare(&KernelSet::norm_backward, norm_spec);
      dnorm_at = binding.scratch.add_temporary(x.bytes());
    }
    if (half.weight) {
      linear.result_type = accumulation_type(binding.model.type);
      linear.accumulate = binding.adds(2);
      linear.accumulate_bias = binding.adds(3);
      weight_gradient = binding.prepare(&KernelSet::linear_weight_gradient, linear);
    }
  }

  void launch(View dy, std::byte* temporaries, const kernels::Stream& stream) const {
    if (half.weight) weight_gradient.launch(dweight, dbias, dy, norm, stream);
    if (!half.input) return;
    const View dnorm{temporaries + dnorm_at, x.type, x.shape};
    input_gradient.launch(dnorm, dy, weight, stream);
    norm_backward.launch(dresidual, dnorm_weight, dnorm_bias, dnorm, x, mean, rstd, norm_weight, branch, stream);
  }
};

}  // namespace

Launch norm_product_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View x = operands.tensor(binding.input(0));
  const View norm_weight = operands.parameter(0), norm_bias = operands.parameter(1);
  const View weight = operands.parameter(2), bias = operands.parameter(3);
  const View mean = operands.tensor(binding.output(0)), rstd = operands.tensor(binding.output(1));
  const View normed = operands.tensor(binding.output(2)), result = operands.tensor(binding.output(3));
  const bool gelu = binding.segment.does(Work::gelu);
  const View activated = gelu ? operands.tensor(binding.output(4)) : View{};
  operands.finish();

  const auto norm = binding.prepare(&KernelSet::norm_forward, norm_of(binding));
  const auto linear = binding.prepare(gelu ? &KernelSet::linear_gelu_forward : &KernelSet::linear_forward,
                                      linear_of(binding, weight.shape[0]));
  return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    norm.launch(normed, mean, rstd, x, norm_weight, norm_bias, stream);
    if (gelu)
      linear.launch(activated, result, normed, weight, bias, stream);
    else
      linear.launch(result, normed, weight, bias, View{}, stream);
  });
}

Launch norm_product_backward(Binding binding) {
  Operands& operands = binding.operands;
  const Half half = binding.half;
  NormProductBackward backward;
  backward.half = half;
  const View dresult = operands.tensor(binding.segment.gradient_inputs[0]);
  if (half.input) {
    backward.branch = operands.tensor(binding.segment.gradient_inputs[1]);
    backward.x = operands.tensor(binding.input(0));
    backward.mean = operands.tensor(binding.output(0));
    backward.rstd = operands.tensor(binding.output(1));
  }
  if (half.weight) backward.norm = operands.tensor(binding.output(2));
  if (half.input) {
    backward.norm_weight = operands.parameter(0);
    operands.parameter(1);
    backward.weight = operands.parameter(2);
    operands.parameter(3);
    backward.dresidual = operands.tensor(binding.input(0));
    backward.dnorm_weight = operands.gradient(0);
    backward.dnorm_bias = operands.gradient(1);
  }
  if (half.weight) {
    backward.dweight = operands.gradient(2);
    backward.dbias = operands.gradient(3);
  }
  operands.finish();

  backward.prepare(binding, dresult.shape[1]);
  return binding.launch([=](const LaunchContext&, std::byte* temporaries, const kernels::Stream& stream) {
    backward.launch(dresult, temporaries, stream);
  });
}

}  // namespace rankscope
