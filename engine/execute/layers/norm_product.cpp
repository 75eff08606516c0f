// A norm and a product, optionally followed by an activation.
#include "engine/execute/layers/layers.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;
using layer::NormProduct;

kernels::LinearSpec linear_of(const Binding& binding, std::int64_t out) {
  return {.type = binding.model.type,
          .result_type = binding.model.type,
          .rows = binding.tokens(),
          .in = binding.width(),
          .out = out,
          .bias = binding.layer<NormProduct>().bias};
}

/// Backward of norm and product, from the gradient of the product's result to the gradients of everything before it.
struct NormProductBackward {
  Half half{};
  NormViews norm{NormKind::layer};
  View dresidual;  ///< written: the gradient of the norm's input, with the residual branch's added
  View branch;     ///< read: the gradient of the residual branch
  View x, normed, weight, dweight, dbias;
  std::int64_t dnorm_at = 0;
  kernels::Prepared<View, View, View> input_gradient;
  kernels::Prepared<View, View, View, View> weight_gradient;
  kernels::Prepared<View, View, View, View, View, View, View, View, View> norm_backward;

  void prepare(Binding& binding, std::int64_t out) {
    auto linear = linear_of(binding, out);
    if (half.input) {
      input_gradient = binding.prepare(&KernelSet::linear_input_gradient, linear);
      norm_backward = binding.prepare(&KernelSet::norm_backward, norm.backward_spec(binding, 0, true));
      dnorm_at = binding.scratch.add_temporary(x.bytes());
    }
    if (half.weight) {
      const int first = norm.count();
      linear.result_type = accumulation_type(binding.model.type);
      linear.accumulate = binding.adds(first);
      linear.accumulate_bias = linear.bias && binding.adds(first + 1);
      weight_gradient = binding.prepare(&KernelSet::linear_weight_gradient, linear);
    }
  }

  void launch(View dy, std::byte* temporaries, const kernels::Stream& stream) const {
    if (half.weight) weight_gradient.launch(dweight, dbias, dy, normed, stream);
    if (!half.input) return;
    const View dnorm{temporaries + dnorm_at, x.type, x.shape};
    input_gradient.launch(dnorm, dy, weight, stream);
    norm_backward.launch(dresidual, norm.dweight, norm.dbias, dnorm, x, norm.mean, norm.rstd, norm.weight, branch,
                         stream);
  }
};

}  // namespace

Launch norm_product_forward(Binding binding) {
  Operands& operands = binding.operands;
  const auto [kind, biased, activation] = binding.layer<NormProduct>();
  NormViews norm{kind};
  const View x = operands.tensor(binding.input(0));
  norm.take_parameters(binding, 0);
  const View weight = operands.parameter(norm.count()), bias = take_bias(binding, biased, norm.count() + 1);
  norm.take_statistics(binding, 0);
  const auto made = static_cast<std::size_t>(norm.count());
  const View normed = operands.tensor(binding.output(made)), result = operands.tensor(binding.output(made + 1));
  const View activated = activation == Activation::none ? View{} : operands.tensor(binding.output(made + 2));
  operands.finish();

  const auto normalise = binding.prepare(&KernelSet::norm_forward, norm.spec(binding));
  const ActivatedProduct product(binding, linear_of(binding, weight.shape[0]), activation);
  return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    normalise.launch(normed, norm.mean, norm.rstd, x, norm.weight, norm.bias, stream);
    product.launch(activated, result, normed, weight, bias, stream);
  });
}

Launch norm_product_backward(Binding binding) {
  Operands& operands = binding.operands;
  const Half half = binding.half;
  const bool biased = binding.layer<NormProduct>().bias;
  NormProductBackward backward;
  backward.half = half;
  NormViews& norm = backward.norm;
  norm.kind = binding.layer<NormProduct>().norm;
  const int first = norm.count();  // of the product's parameters
  const View dresult = operands.tensor(binding.segment.gradient_inputs[0]);
  if (half.input) {
    backward.branch = operands.tensor(binding.segment.gradient_inputs[1]);
    backward.x = operands.tensor(binding.input(0));
    norm.take_statistics(binding, 0);
  }
  if (half.weight) backward.normed = operands.tensor(binding.output(static_cast<std::size_t>(first)));
  if (half.input) {
    norm.take_parameters(binding, 0);
    backward.weight = operands.parameter(first);
    take_bias(binding, biased, first + 1);
    backward.dresidual = operands.tensor(binding.input(0));
    norm.take_gradients(binding, 0);
  }
  if (half.weight) {
    backward.dweight = operands.gradient(first);
    backward.dbias = take_bias_gradient(binding, biased, first + 1);
  }
  operands.finish();

  backward.prepare(binding, dresult.shape[1]);
  return binding.launch([=](const LaunchContext&, std::byte* temporaries, const kernels::Stream& stream) {
    backward.launch(dresult, temporaries, stream);
  });
}

}  // namespace rankscope
