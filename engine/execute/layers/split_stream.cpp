// Ops on the residual stream between the products of tensor ranks: norms, and sums with the branches,
// with their biases and dropout. All ranks do the same, or with sequence parallelism each does its rows.
#include "engine/execute/layers/layers.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;

kernels::NormSpec norm_of(const Binding& binding) {
  return {.type = binding.model.type, .rows = binding.stream_rows(), .width = binding.width()};
}

kernels::BiasGradientSpec bias_of(const Binding& binding) {
  return {.type = binding.model.type,
          .rows = binding.stream_rows(),
          .width = binding.width(),
          .accumulate = binding.adds(0)};
}

}  // namespace

DroppedGradient::DroppedGradient(Binding& binding)
    : model_(&binding.model),
      workspace_(&binding.workspace),
      dropout_(binding.prepare(&KernelSet::dropout, dropout_of(binding))) {}

void DroppedGradient::launch(const View& dx, const View& dy, const LaunchContext& context,
                             const kernels::Stream& stream) const {
  if (model_->spec.dropout > 0)
    dropout_.launch(dx, dy, View{}, stream_dropout_draw(context, *model_), stream);
  else
    workspace_->queue().copy(dx.data, dy.data, dy.bytes());
}

Launch norm_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View residual = operands.tensor(TensorName::residual);
  const View weight = operands.parameter(0), bias = operands.parameter(1);
  const View mean = operands.tensor(TensorName::mean1), rstd = operands.tensor(TensorName::rstd1);
  const View normed = operands.tensor(TensorName::norm1);
  operands.finish();

  auto norm = binding.prepare(&KernelSet::norm_forward, norm_of(binding));
  return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    norm.launch(normed, mean, rstd, residual, weight, bias, stream);
  });
}

Launch norm_backward(Binding binding) {
  Operands& operands = binding.operands;
  const bool in_block = binding.segment.block >= 0;
  const View dnorm = operands.tensor(TensorName::norm1);
  const View branch = in_block ? operands.tensor(TensorName::middle) : View{};
  const View residual = operands.tensor(TensorName::residual);
  const View mean = operands.tensor(TensorName::mean1), rstd = operands.tensor(TensorName::rstd1);
  const View weight = operands.parameter(0);
  operands.parameter(1);
  const View dresidual = operands.tensor(TensorName::residual);
  const View dweight = operands.gradient(0), dbias = operands.gradient(1);
  operands.finish();

  auto spec = norm_of(binding);
  spec.residual = in_block;
  spec.accumulate_weight = binding.adds(0);
  spec.accumulate_bias = binding.adds(1);
  auto norm = binding.prepare(&KernelSet::norm_backward, spec);
  return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    norm.launch(dresidual, dweight, dbias, dnorm, residual, mean, rstd, weight, branch, stream);
  });
}

Launch mlp_norm_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View projected = operands.tensor(binding.input(0)), residual = operands.tensor(TensorName::residual);
  const View bias = operands.parameter(0), norm_weight = operands.parameter(1), norm_bias = operands.parameter(2);
  const View middle = operands.tensor(TensorName::middle);
  const View mean = operands.tensor(TensorName::mean2), rstd = operands.tensor(TensorName::rstd2);
  const View normed = operands.tensor(TensorName::norm2);
  operands.finish();

  auto sum = binding.prepare(&KernelSet::residual_sum, dropout_of(binding));
  auto norm = binding.prepare(&KernelSet::norm_forward, norm_of(binding));
  return binding.launch(
      [=, &model = binding.model](const LaunchContext& context, std::byte*, const kernels::Stream& stream) {
        sum.launch(middle, projected, bias, residual, stream_dropout_draw(context, model), stream);
        norm.launch(normed, mean, rstd, middle, norm_weight, norm_bias, stream);
      });
}

Launch mlp_norm_backward(Binding binding) {
  Operands& operands = binding.operands;
  const View dnorm = operands.tensor(TensorName::norm2), branch = operands.tensor(TensorName::output);
  const View middle = operands.tensor(TensorName::middle);
  const View mean = operands.tensor(TensorName::mean2), rstd = operands.tensor(TensorName::rstd2);
  operands.parameter(0);
  const View norm_weight = operands.parameter(1);
  operands.parameter(2);
  const View dmiddle = operands.tensor(TensorName::middle), dprojected = operands.tensor(binding.input(0));
  const View dbias = operands.gradient(0), dnorm_weight = operands.gradient(1), dnorm_bias = operands.gradient(2);
  operands.finish();

  auto spec = norm_of(binding);
  spec.residual = true;
  spec.accumulate_weight = binding.adds(1);
  spec.accumulate_bias = binding.adds(2);
  auto norm = binding.prepare(&KernelSet::norm_backward, spec);
  auto bias_gradient = binding.prepare(&KernelSet::bias_gradient, bias_of(binding));
  const DroppedGradient dropped(binding);
  return binding.launch([=](const LaunchContext& context, std::byte*, const kernels::Stream& stream) {
    norm.launch(dmiddle, dnorm_weight, dnorm_bias, dnorm, middle, mean, rstd, norm_weight, branch, stream);
    dropped.launch(dprojected, dmiddle, context, stream);
    bias_gradient.launch(dbias, dprojected, stream);
  });
}

Launch output_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View contracted = operands.tensor(binding.input(0)), middle = operands.tensor(TensorName::middle);
  const View bias = operands.parameter(0);
  const View output = operands.tensor(TensorName::output);
  operands.finish();

  auto sum = binding.prepare(&KernelSet::residual_sum, dropout_of(binding));
  return binding.launch(
      [=, &model = binding.model](const LaunchContext& context, std::byte*, const kernels::Stream& stream) {
        sum.launch(output, contracted, bias, middle, stream_dropout_draw(context, model), stream);
      });
}

Launch output_backward(Binding binding) {
  Operands& operands = binding.operands;
  const View doutput = operands.tensor(TensorName::output);
  operands.parameter(0);
  const View dcontracted = operands.tensor(binding.input(0)), dbias = operands.gradient(0);
  operands.finish();

  auto bias_gradient = binding.prepare(&KernelSet::bias_gradient, bias_of(binding));
  const DroppedGradient dropped(binding);
  return binding.launch([=](const LaunchContext& context, std::byte*, const kernels::Stream& stream) {
    dropped.launch(dcontracted, doutput, context, stream);
    bias_gradient.launch(dbias, dcontracted, stream);
  });
}

}  // namespace rankscope
