// A product whose result is added to the residual stream, after dropout: attention's output projection and the MLP's
// second product, whose backward may include the activation that computed its input.
#include "engine/execute/layers/layers.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;

kernels::LinearSpec linear_of(const Binding& binding, std::int64_t in) {
  return {.type = binding.model.type,
          .result_type = binding.model.type,
          .rows = binding.tokens(),
          .in = in,
          .out = binding.width()};
}

}  // namespace

Launch residual_product_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View input = operands.tensor(binding.input(0)), residual = operands.tensor(binding.input(1));
  const bool biased = binding.layer<layer::ResidualProduct>().bias;
  const View weight = operands.parameter(0), bias = take_bias(binding, biased, 1);
  const View output = operands.tensor(binding.output(0));
  operands.finish();

  // Without dropout the product adds the residual itself.
  const bool drops = binding.dropout() > 0;
  auto spec = linear_of(binding, input.shape[1]);
  spec.bias = biased;
  spec.residual = !drops;
  auto linear = binding.prepare(&KernelSet::linear_forward, spec);
  auto dropout_spec = dropout_of(binding);
  dropout_spec.residual = true;
  auto dropout = binding.prepare(&KernelSet::dropout, dropout_spec);
  return binding.launch([=, context_tokens = binding.model.spec.context](const LaunchContext& context, std::byte*,
                                                                         const kernels::Stream& stream) {
    linear.launch(output, input, weight, bias, drops ? View{} : residual, stream);
    if (drops) dropout.launch(output, output, residual, dropout_draw(context, context_tokens), stream);
  });
}

Launch residual_product_backward(Binding binding) {
  Operands& operands = binding.operands;
  const auto [biased, through] = binding.layer<layer::ResidualProduct>();
  const TensorName dinput_name = binding.segment.gradient_outputs.front();
  const Half half = binding.half;
  View input, before, weight, dinput, dweight, dbias;
  const View doutput = operands.tensor(binding.output(0));
  if (half.weight) input = operands.tensor(binding.input(0));
  if (half.input) {
    if (through != Activation::none) before = operands.tensor(dinput_name);
    weight = operands.parameter(0);
    take_bias(binding, biased, 1);
    dinput = operands.tensor(dinput_name);
  }
  if (half.weight) {
    dweight = operands.gradient(0);
    dbias = take_bias_gradient(binding, biased, 1);
  }
  operands.finish();

  const bool drops = binding.dropout() > 0;
  auto dropout = binding.prepare(&KernelSet::dropout, dropout_of(binding));
  auto spec = linear_of(binding, half.input ? weight.shape[1] : dweight.shape[1]);
  InputGradient input_gradient;
  if (half.input) input_gradient = InputGradient(binding, spec, through);
  kernels::Prepared<View, View, View, View> weight_gradient;
  if (half.weight) {
    spec.result_type = accumulation_type(binding.model.type);
    spec.bias = biased;
    spec.accumulate = binding.adds(0);
    spec.accumulate_bias = biased && binding.adds(1);
    weight_gradient = binding.prepare(&KernelSet::linear_weight_gradient, spec);
  }
  const std::int64_t dropped_at = binding.scratch.add_temporary(drops ? doutput.bytes() : 0);
  return binding.launch([=, context_tokens = binding.model.spec.context](
                            const LaunchContext& context, std::byte* temporaries, const kernels::Stream& stream) {
    View dy = doutput;
    if (drops) {
      dy.data = temporaries + dropped_at;
      dropout.launch(dy, doutput, View{}, dropout_draw(context, context_tokens), stream);
    }
    if (half.weight) weight_gradient.launch(dweight, dbias, dy, input, stream);
    if (half.input) input_gradient.launch(dinput, dy, weight, before, temporaries, stream);
  });
}

}  // namespace rankscope
