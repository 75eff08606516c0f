// The products of tensor ranks, each on its share of the matrix. Rows of it (output columns) are on their own, so that
// attention and GELU go on without asking anybody: GELU(x·[A₁ A₂]) = [GELU(x·A₁) GELU(x·A₂)]. Columns of it make parts
// of a sum, which others add up; only then a bias may be added, once.
#include "engine/layers/layers.hpp"

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

/// Both gradients of a product, or one of them; the weight is the segment's first parameter.
struct ProductBackward {
  Half half;
  View x, weight, dx, dweight;
  kernels::Prepared<View, View, View> input_gradient, weight_gradient;

  void prepare(const Binding& binding, kernels::LinearSpec spec, ScratchLayout& scratch) {
    half = binding.half;
    if (half.input) {
      input_gradient = binding.kernels.prepare(&KernelSet::linear_input_gradient, spec);
      scratch.add_kernel(input_gradient.workspace_bytes);
    }
    if (half.weight) {
      spec.result_type = accumulation_type(binding.model.type);
      spec.accumulate = binding.adds(0);
      weight_gradient = binding.kernels.prepare(&KernelSet::linear_weight_gradient, spec);
      scratch.add_kernel(weight_gradient.workspace_bytes);
    }
  }
  /// The input's first: others wait for it.
  void launch(const View& dy, const kernels::Stream& stream) const {
    if (half.input) input_gradient.launch(dx, dy, weight, stream);
    if (half.weight) weight_gradient.launch(dweight, dy, x, stream);
  }
};

}  // namespace

Launch split_qkv_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View normed = operands.tensor(binding.first_input());
  const View weight = operands.parameter(0), bias = operands.parameter(1);
  const View qkv = operands.tensor(TensorName::qkv);
  operands.finish();

  auto spec = linear_of(binding, weight);
  spec.bias = true;
  auto linear = binding.kernels.prepare(&KernelSet::linear_forward, spec);
  ScratchLayout scratch;
  scratch.add_kernel(linear.workspace_bytes);
  return make_launch(binding.workspace, scratch, [=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    linear.launch(qkv, normed, weight, bias, View{}, stream);
  });
}

Launch split_qkv_backward(Binding binding) {
  Operands& operands = binding.operands;
  const Half half = binding.half;
  ProductBackward product;
  View dbias;
  const View dqkv = operands.tensor(TensorName::qkv);
  if (half.weight) product.x = operands.tensor(binding.first_input());
  if (half.input) {
    product.weight = operands.parameter(0);
    operands.parameter(1);
    product.dx = operands.tensor(binding.first_input());
  }
  if (half.weight) {
    product.dweight = operands.gradient(0);
    dbias = operands.gradient(1);
  }
  operands.finish();

  ScratchLayout scratch;
  product.prepare(binding, linear_of(binding, half.input ? product.weight : product.dweight), scratch);
  kernels::Prepared<View, View> bias_gradient;
  if (half.weight) {
    bias_gradient =
        binding.kernels.prepare(&KernelSet::bias_gradient, kernels::BiasGradientSpec{.type = binding.model.type,
                                                                                     .rows = binding.tokens(),
                                                                                     .width = dbias.elements(),
                                                                                     .accumulate = binding.adds(1)});
    scratch.add_kernel(bias_gradient.workspace_bytes);
  }
  return make_launch(binding.workspace, scratch, [=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    product.launch(dqkv, stream);
    if (half.weight) bias_gradient.launch(dbias, dqkv, stream);
  });
}

Launch split_up_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View normed = operands.tensor(binding.first_input());
  const View weight = operands.parameter(0), bias = operands.parameter(1);
  const View pre_gelu = operands.tensor(TensorName::pre_gelu), activated = operands.tensor(TensorName::activated);
  operands.finish();

  auto spec = linear_of(binding, weight);
  spec.bias = true;
  auto linear = binding.kernels.prepare(&KernelSet::linear_forward, spec);
  auto gelu = binding.kernels.prepare(
      &KernelSet::gelu_forward,
      kernels::ElementwiseSpec{.type = binding.model.type, .rows = binding.tokens(), .width = spec.out});
  ScratchLayout scratch;
  scratch.add_kernel(linear.workspace_bytes);
  scratch.add_kernel(gelu.workspace_bytes);
  return make_launch(binding.workspace, scratch, [=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    linear.launch(pre_gelu, normed, weight, bias, View{}, stream);
    gelu.launch(activated, pre_gelu, stream);
  });
}

Launch split_up_backward(Binding binding) {
  Operands& operands = binding.operands;
  const Half half = binding.half;
  ProductBackward product;
  View dactivated, pre_gelu, dpre_gelu, dbias;
  if (half.input)
    dactivated = operands.tensor(TensorName::activated);
  else
    dpre_gelu = operands.tensor(TensorName::pre_gelu);
  if (half.weight) product.x = operands.tensor(binding.first_input());
  if (half.input) {
    pre_gelu = operands.tensor(TensorName::pre_gelu);
    product.weight = operands.parameter(0);
    operands.parameter(1);
    product.dx = operands.tensor(binding.first_input());
    if (!half.weight) dpre_gelu = operands.tensor(TensorName::pre_gelu);
  }
  if (half.weight) product.dweight = operands.gradient(0);
  if (half.input) dbias = operands.gradient(1);
  operands.finish();

  ScratchLayout scratch;
  // GELU's gradient is scratch, unless it is the operand that one half hands on to the other.
  const bool is_scratch = half.input && half.weight;
  const std::int64_t dpre_gelu_at = scratch.add_temporary(is_scratch ? pre_gelu.bytes() : 0);
  const auto spec = linear_of(binding, half.input ? product.weight : product.dweight);
  product.prepare(binding, spec, scratch);
  kernels::Prepared<View, View, View, View> gelu;
  if (half.input) {
    gelu = binding.kernels.prepare(&KernelSet::gelu_backward,
                                   kernels::GeluBackwardSpec{.type = binding.model.type,
                                                             .rows = binding.tokens(),
                                                             .width = spec.out,
                                                             .accumulate_bias = binding.adds(1)});
    scratch.add_kernel(gelu.workspace_bytes);
  }
  return make_launch(
      binding.workspace, scratch, [=](const LaunchContext&, std::byte* temporaries, const kernels::Stream& stream) {
        const View dy = is_scratch ? View{temporaries + dpre_gelu_at, pre_gelu.type, pre_gelu.shape} : dpre_gelu;
        if (half.input) gelu.launch(dy, dbias, dactivated, pre_gelu, stream);
        product.launch(dy, stream);
      });
}

Launch partial_product_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View x = operands.tensor(binding.first_input()), weight = operands.parameter(0);
  const View y = operands.tensor(binding.segment.outputs.front().name);
  operands.finish();

  auto linear = binding.kernels.prepare(&KernelSet::linear_forward, linear_of(binding, weight));
  ScratchLayout scratch;
  scratch.add_kernel(linear.workspace_bytes);
  return make_launch(binding.workspace, scratch, [=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    linear.launch(y, x, weight, View{}, View{}, stream);
  });
}

Launch partial_product_backward(Binding binding) {
  Operands& operands = binding.operands;
  const Half half = binding.half;
  ProductBackward product;
  const View dy = operands.tensor(binding.segment.outputs.front().name);
  if (half.weight) product.x = operands.tensor(binding.first_input());
  if (half.input) {
    product.weight = operands.parameter(0);
    product.dx = operands.tensor(binding.first_input());
  }
  if (half.weight) product.dweight = operands.gradient(0);
  operands.finish();

  ScratchLayout scratch;
  product.prepare(binding, linear_of(binding, half.input ? product.weight : product.dweight), scratch);
  return make_launch(binding.workspace, scratch, [=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    product.launch(dy, stream);
  });
}

}  // namespace rankscope
