// A product whose result is added to the residual stream, after dropout: attention's output projection and the MLP's
// second product.
#include <optional>

#include "engine/layers/layers.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;

/// The two segments differ in the names of their tensors and in the product's input width.
struct Names {
  TensorName input;
  std::optional<TensorName> before_gelu;  ///< what the input is the GELU of; backward goes through it
  TensorName residual, output;
  std::int64_t in;
};

kernels::LinearSpec linear_of(const Binding& binding, std::int64_t in) {
  return {.type = binding.model.type,
          .result_type = binding.model.type,
          .rows = binding.tokens(),
          .in = in,
          .out = binding.width()};
}

kernels::DropoutSpec dropout_of(const Binding& binding) {
  return {.type = binding.model.type,
          .rows = binding.tokens(),
          .width = binding.width(),
          .probability = binding.dropout(),
          .site = dropout_site(binding.segment)};
}

Launch forward(Binding binding, const Names& names) {
  Operands& operands = binding.operands;
  const View input = operands.tensor(names.input), residual = operands.tensor(names.residual);
  const View weight = operands.parameter(0), bias = operands.parameter(1);
  const View output = operands.tensor(names.output);
  operands.finish();

  // Without dropout the product adds the residual itself.
  const bool drops = binding.dropout() > 0;
  auto spec = linear_of(binding, names.in);
  spec.bias = true;
  spec.residual = !drops;
  auto linear = binding.kernels.prepare(&KernelSet::linear_forward, spec);
  auto dropout_spec = dropout_of(binding);
  dropout_spec.residual = true;
  auto dropout = binding.kernels.prepare(&KernelSet::dropout, dropout_spec);
  ScratchLayout scratch;
  scratch.add_kernel(linear.workspace_bytes);
  scratch.add_kernel(dropout.workspace_bytes);
  return make_launch(binding.workspace, scratch,
                     [=, context_tokens = binding.model.spec.context](const LaunchContext& context, std::byte*,
                                                                      const kernels::Stream& stream) {
                       linear.launch(output, input, weight, bias, drops ? View{} : residual, stream);
                       if (drops)
                         dropout.launch(output, output, residual, dropout_draw(context, context_tokens), stream);
                     });
}

Launch backward(Binding binding, const Names& names) {
  Operands& operands = binding.operands;
  const Half half = binding.half;
  View input, before, weight, dinput, dweight, dbias;
  const View doutput = operands.tensor(names.output);
  if (half.weight) input = operands.tensor(names.input);
  if (half.input) {
    if (names.before_gelu) before = operands.tensor(*names.before_gelu);
    weight = operands.parameter(0);
    operands.parameter(1);
    dinput = operands.tensor(names.before_gelu.value_or(names.input));
  }
  if (half.weight) {
    dweight = operands.gradient(0);
    dbias = operands.gradient(1);
  }
  operands.finish();

  const bool drops = binding.dropout() > 0;
  auto dropout = binding.kernels.prepare(&KernelSet::dropout, dropout_of(binding));
  auto spec = linear_of(binding, names.in);
  const InputGradient input_gradient(binding, spec, names.before_gelu.has_value());
  spec.result_type = accumulation_type(binding.model.type);
  spec.bias = true;
  spec.accumulate = binding.adds(0);
  spec.accumulate_bias = binding.adds(1);
  auto weight_gradient = binding.kernels.prepare(&KernelSet::linear_weight_gradient, spec);
  ScratchLayout scratch;
  const std::int64_t dropped_at = scratch.add_temporary(drops ? doutput.bytes() : 0);
  scratch.add_kernel(dropout.workspace_bytes);
  if (half.input) scratch.add_kernel(input_gradient.workspace_bytes());
  if (half.weight) scratch.add_kernel(weight_gradient.workspace_bytes);
  return make_launch(binding.workspace, scratch,
                     [=, context_tokens = binding.model.spec.context](
                         const LaunchContext& context, std::byte* temporaries, const kernels::Stream& stream) {
                       View dy = doutput;
                       if (drops) {
                         dy.data = temporaries + dropped_at;
                         dropout.launch(dy, doutput, View{}, dropout_draw(context, context_tokens), stream);
                       }
                       if (half.weight) weight_gradient.launch(dweight, dbias, dy, input, stream);
                       if (half.input) input_gradient.launch(dinput, dy, weight, before, stream);
                     });
}

Names projection_names(const Binding& binding) {
  return {TensorName::attended, {}, TensorName::residual, TensorName::middle, binding.width()};
}
Names down_names(const Binding& binding) {
  return {TensorName::activated, TensorName::pre_gelu, TensorName::middle, TensorName::output, 4 * binding.width()};
}

}  // namespace

Launch projection_forward(Binding binding) { return forward(binding, projection_names(binding)); }
Launch projection_backward(Binding binding) { return backward(binding, projection_names(binding)); }
Launch down_forward(Binding binding) { return forward(binding, down_names(binding)); }
Launch down_backward(Binding binding) { return backward(binding, down_names(binding)); }

}  // namespace rankscope
