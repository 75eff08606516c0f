// Ops on the residual stream between the products of tensor ranks: norms, and sums with the branches,
// with their biases and dropout. All ranks do the same, or with sequence parallelism each does its rows.
#include "engine/execute/layers/layers.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;

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

Launch stream_norm_forward(Binding binding) {
  Operands& operands = binding.operands;
  NormViews norm{binding.layer<layer::StreamNorm>().norm};
  const View residual = operands.tensor(TensorName::residual);
  norm.take_parameters(binding, 0);
  norm.take_statistics(binding, 0);
  const View normed = operands.tensor(TensorName::norm1);
  operands.finish();

  auto normalise = binding.prepare(&KernelSet::norm_forward, norm.spec(binding));
  return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    normalise.launch(normed, norm.mean, norm.rstd, residual, norm.weight, norm.bias, stream);
  });
}

Launch stream_norm_backward(Binding binding) {
  Operands& operands = binding.operands;
  NormViews norm{binding.layer<layer::StreamNorm>().norm};
  const bool in_block = binding.segment.block >= 0;
  const View dnorm = operands.tensor(TensorName::norm1);
  const View branch = in_block ? operands.tensor(TensorName::middle) : View{};
  const View residual = operands.tensor(TensorName::residual);
  norm.take_statistics(binding, 0);
  norm.take_parameters(binding, 0);
  const View dresidual = operands.tensor(TensorName::residual);
  norm.take_gradients(binding, 0);
  operands.finish();

  auto backward = binding.prepare(&KernelSet::norm_backward, norm.backward_spec(binding, 0, in_block));
  return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    backward.launch(dresidual, norm.dweight, norm.dbias, dnorm, residual, norm.mean, norm.rstd, norm.weight, branch,
                    stream);
  });
}

namespace {

/// The sum of a branch, with its bias and dropout if it has a bias, and the residual stream.
class StreamSum {
 public:
  StreamSum(Binding& binding, bool bias) : model_(&binding.model) {
    if (bias)
      biased_ = binding.prepare(&KernelSet::residual_sum, dropout_of(binding));
    else
      plain_ = binding.prepare(&KernelSet::add, {binding.model.type, binding.stream_rows(), binding.width()});
  }
  void launch(const View& sum, const View& branch, const View& bias, const View& residual, const LaunchContext& context,
              const kernels::Stream& stream) const {
    if (biased_.launch)
      biased_.launch(sum, branch, bias, residual, stream_dropout_draw(context, *model_), stream);
    else
      plain_.launch(sum, branch, residual, stream);
  }

 private:
  const Model* model_;
  kernels::Prepared<View, View, View, View, kernels::DropoutDraw> biased_;
  kernels::Prepared<View, View, View> plain_;
};

/// The gradients of a branch and of its bias, the segment's first parameter.
class BranchGradient {
 public:
  BranchGradient(Binding& binding, bool bias) : dropped_(binding) {
    if (bias) bias_ = binding.prepare(&KernelSet::bias_gradient, bias_of(binding));
  }
  void launch(const View& dbranch, const View& dbias, const View& dsum, const LaunchContext& context,
              const kernels::Stream& stream) const {
    dropped_.launch(dbranch, dsum, context, stream);
    if (bias_.launch) bias_.launch(dbias, dbranch, stream);
  }

 private:
  DroppedGradient dropped_;
  kernels::Prepared<View, View> bias_;
};

}  // namespace

Launch sum_norm_forward(Binding binding) {
  Operands& operands = binding.operands;
  const auto [kind, biased] = binding.layer<layer::SumNorm>();
  NormViews norm{kind};
  const View projected = operands.tensor(binding.input(0)), residual = operands.tensor(TensorName::residual);
  const View bias = take_bias(binding, biased, 0);
  norm.take_parameters(binding, biased ? 1 : 0);
  const View middle = operands.tensor(TensorName::middle);
  norm.take_statistics(binding, 1);
  const View normed = operands.tensor(TensorName::norm2);
  operands.finish();

  const StreamSum sum(binding, biased);
  auto normalise = binding.prepare(&KernelSet::norm_forward, norm.spec(binding));
  return binding.launch([=](const LaunchContext& context, std::byte*, const kernels::Stream& stream) {
    sum.launch(middle, projected, bias, residual, context, stream);
    normalise.launch(normed, norm.mean, norm.rstd, middle, norm.weight, norm.bias, stream);
  });
}

Launch sum_norm_backward(Binding binding) {
  Operands& operands = binding.operands;
  const auto [kind, biased] = binding.layer<layer::SumNorm>();
  NormViews norm{kind};
  const int first = biased ? 1 : 0;
  const View dnorm = operands.tensor(TensorName::norm2), branch = operands.tensor(TensorName::output);
  const View middle = operands.tensor(TensorName::middle);
  norm.take_statistics(binding, 1);
  take_bias(binding, biased, 0);
  norm.take_parameters(binding, first);
  const View dmiddle = operands.tensor(TensorName::middle), dprojected = operands.tensor(binding.input(0));
  const View dbias = take_bias_gradient(binding, biased, 0);
  norm.take_gradients(binding, first);
  operands.finish();

  auto backward = binding.prepare(&KernelSet::norm_backward, norm.backward_spec(binding, first, true));
  const BranchGradient gradient(binding, biased);
  return binding.launch([=](const LaunchContext& context, std::byte*, const kernels::Stream& stream) {
    backward.launch(dmiddle, norm.dweight, norm.dbias, dnorm, middle, norm.mean, norm.rstd, norm.weight, branch,
                    stream);
    gradient.launch(dprojected, dbias, dmiddle, context, stream);
  });
}

Launch sum_forward(Binding binding) {
  Operands& operands = binding.operands;
  const bool biased = binding.layer<layer::Sum>().bias;
  const View contracted = operands.tensor(binding.input(0)), middle = operands.tensor(TensorName::middle);
  const View bias = take_bias(binding, biased, 0);
  const View output = operands.tensor(TensorName::output);
  operands.finish();

  const StreamSum sum(binding, biased);
  return binding.launch([=](const LaunchContext& context, std::byte*, const kernels::Stream& stream) {
    sum.launch(output, contracted, bias, middle, context, stream);
  });
}

Launch sum_backward(Binding binding) {
  Operands& operands = binding.operands;
  const bool biased = binding.layer<layer::Sum>().bias;
  const View doutput = operands.tensor(TensorName::output);
  take_bias(binding, biased, 0);
  const View dcontracted = operands.tensor(binding.input(0)), dbias = take_bias_gradient(binding, biased, 0);
  operands.finish();

  const BranchGradient gradient(binding, biased);
  return binding.launch([=](const LaunchContext& context, std::byte*, const kernels::Stream& stream) {
    gradient.launch(dcontracted, dbias, doutput, context, stream);
  });
}

}  // namespace rankscope
