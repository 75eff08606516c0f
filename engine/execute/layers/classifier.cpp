// The end of a residual network: mean over the pixels, product with the classes, cross-entropy. Forward leaves the
// gradient of the loss in `logits`, which are computed in fp32 if they are stored in 16 bits (see head.cpp).
#include "engine/execute/layers/layers.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;

kernels::MeanPoolSpec pool_of(const View& images) {
  return {.type = images.type,
          .samples = images.shape[0],
          .positions = images.shape[1] * images.shape[2],
          .channels = images.shape[3]};
}

kernels::LinearSpec linear_of(DType type, std::int64_t samples, const View& weight) {
  return {
      .type = type, .result_type = type, .rows = samples, .in = weight.shape[1], .out = weight.shape[0], .bias = true};
}

}  // namespace

Launch classifier_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View residual = operands.tensor(TensorName::residual), targets = operands.tensor(TensorName::targets);
  const View weight = operands.parameter(0), bias = operands.parameter(1);
  const View pooled = operands.tensor(TensorName::pooled), logits = operands.tensor(TensorName::logits);
  const View loss = operands.tensor(TensorName::loss);
  operands.finish();

  const DType type = binding.model.type, wide_type = accumulation_type(type);
  const auto pool = binding.prepare(&KernelSet::mean_pool_forward, pool_of(residual));
  auto spec = linear_of(type, pooled.shape[0], weight);
  spec.result_type = wide_type;
  const auto linear = binding.prepare(&KernelSet::linear_forward, spec);
  const auto cross_entropy = binding.prepare(
      &KernelSet::cross_entropy,
      kernels::CrossEntropySpec{
          .type = type, .logits_type = wide_type, .rows = logits.shape[0], .vocabulary = logits.shape[1]});
  const bool in_place = wide_type == type;
  const std::int64_t wide_at = binding.scratch.add_temporary(in_place ? 0 : logits.elements() * bytes_of(wide_type));
  return binding.launch([=](const LaunchContext& context, std::byte* temporaries, const kernels::Stream& stream) {
    const View wide = in_place ? logits : View{temporaries + wide_at, wide_type, logits.shape};
    pool.launch(pooled, residual, stream);
    linear.launch(wide, pooled, weight, bias, View{}, stream);
    const double scale = context.loss_scale / static_cast<double>(context.global_tokens);
    cross_entropy.launch(logits, loss, wide, targets, scale, stream);
  });
}

Launch classifier_backward(Binding binding) {
  Operands& operands = binding.operands;
  const Half half = binding.half;
  View pooled, weight, dresidual, dweight, dbias;
  if (half.weight) pooled = operands.tensor(TensorName::pooled);
  const View dlogits = operands.tensor(TensorName::logits);
  if (half.input) {
    weight = operands.parameter(0);
    operands.parameter(1);
    dresidual = operands.tensor(TensorName::residual);
  }
  if (half.weight) {
    dweight = operands.gradient(0);
    dbias = operands.gradient(1);
  }
  operands.finish();

  const DType type = binding.model.type;
  kernels::Prepared<View, View, View> input_gradient;
  kernels::Prepared<View, View, View, View> weight_gradient;
  kernels::Prepared<View, View> pool;
  std::int64_t dpooled_at = 0;
  Shape pooled_shape;
  if (half.input) {
    pooled_shape = {dlogits.shape[0], weight.shape[1]};
    auto spec = linear_of(type, dlogits.shape[0], weight);
    spec.bias = false;
    input_gradient = binding.prepare(&KernelSet::linear_input_gradient, spec);
    pool = binding.prepare(&KernelSet::mean_pool_backward, pool_of(dresidual));
    dpooled_at = binding.scratch.add_temporary(pooled_shape.elements() * bytes_of(type));
  }
  if (half.weight) {
    auto spec = linear_of(type, dlogits.shape[0], dweight);
    spec.result_type = accumulation_type(type);
    spec.accumulate = binding.adds(0);
    spec.accumulate_bias = binding.adds(1);
    weight_gradient = binding.prepare(&KernelSet::linear_weight_gradient, spec);
  }
  return binding.launch([=](const LaunchContext&, std::byte* temporaries, const kernels::Stream& stream) {
    if (half.weight) weight_gradient.launch(dweight, dbias, dlogits, pooled, stream);
    if (!half.input) return;
    const View dpooled{temporaries + dpooled_at, type, pooled_shape};
    input_gradient.launch(dpooled, dlogits, weight, stream);
    pool.launch(dresidual, dpooled, stream);
  });
}

}  // namespace rankscope
