// Last norm, product with the vocabulary, cross-entropy. Forward leaves the gradient of the loss in `logits`.
//
// In bf16 the logits are computed in fp32, some rows at a time, and only their gradient is rounded: a logit of 20 in
// bf16 would have an error of 0.06, and so would the loss. With plan.logits = "narrow" the logits are rounded as well,
// as in PyTorch and llm.c: less memory is moved, and the products are larger.
#include <algorithm>
#include <vector>

#include "engine/execute/layers/logit_rows.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;

kernels::LinearSpec linear_of(const Binding& binding, std::int64_t rows) {
  return {.type = binding.model.type,
          .result_type = binding.model.type,
          .rows = rows,
          .in = binding.width(),
          .out = binding.model.spec.vocabulary};
}

/// Product and cross-entropy of some rows.
struct Rows {
  std::int64_t first = 0, count = 0;
  kernels::Prepared<View, View, View, View, View> linear;
  kernels::Prepared<View, View, View, View, double> cross_entropy;
};

}  // namespace

Launch head_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View residual = operands.tensor(TensorName::residual), targets = operands.tensor(TensorName::targets);
  NormViews norm{binding.layer<layer::Head>().norm};
  norm.take_parameters(binding, 0);
  const View weight = operands.parameter(norm.count());
  norm.take_statistics(binding, 0);
  const View normed = operands.tensor(TensorName::norm1), logits = operands.tensor(TensorName::logits);
  const View loss = operands.tensor(TensorName::loss);
  operands.finish();

  const std::int64_t tokens = binding.tokens(), vocabulary = binding.model.spec.vocabulary;
  const DType type = binding.model.type, logits_type = binding.model.logits_type();
  const bool in_place = logits_type == type;
  const std::int64_t row_bytes = vocabulary * bytes_of(logits_type);
  const std::int64_t rows_at_once = rows_of_forward(binding, vocabulary);

  auto normalise = binding.prepare(&KernelSet::norm_forward, norm.spec(binding));
  const std::int64_t wide_at = binding.scratch.add_temporary(in_place ? 0 : rows_at_once * row_bytes);
  std::vector<Rows> blocks;
  for (std::int64_t first = 0; first < tokens; first += rows_at_once) {
    Rows rows{first, std::min(rows_at_once, tokens - first), {}, {}};
    auto linear = linear_of(binding, rows.count);
    linear.result_type = logits_type;
    rows.linear = binding.prepare(&KernelSet::linear_forward, linear);
    rows.cross_entropy =
        binding.prepare(&KernelSet::cross_entropy, kernels::CrossEntropySpec{.type = type,
                                                                             .logits_type = logits_type,
                                                                             .rows = rows.count,
                                                                             .vocabulary = vocabulary,
                                                                             .accumulate_loss = first > 0});
    blocks.push_back(std::move(rows));
  }
  return binding.launch([=, blocks = std::move(blocks)](const LaunchContext& context, std::byte* temporaries,
                                                        const kernels::Stream& stream) {
    normalise.launch(normed, norm.mean, norm.rstd, residual, norm.weight, norm.bias, stream);
    const double scale = context.loss_scale / static_cast<double>(context.global_tokens);
    for (const Rows& rows : blocks) {
      const View gradient = rows_of(logits, rows.first, rows.count);
      const View wide = in_place ? gradient : View{temporaries + wide_at, logits_type, {rows.count, logits.shape[1]}};
      rows.linear.launch(wide, rows_of(normed, rows.first, rows.count), weight, View{}, View{}, stream);
      rows.cross_entropy.launch(gradient, loss, wide, rows_of(targets, rows.first, rows.count), scale, stream);
    }
  });
}

Launch head_backward(Binding binding) {
  Operands& operands = binding.operands;
  const Half half = binding.half;
  NormViews norm{binding.layer<layer::Head>().norm};
  View residual, normed, weight, dresidual, dweight;
  if (half.input) {
    residual = operands.tensor(TensorName::residual);
    norm.take_statistics(binding, 0);
  }
  if (half.weight) normed = operands.tensor(TensorName::norm1);
  const View dlogits = operands.tensor(TensorName::logits);
  if (half.input) {
    norm.take_parameters(binding, 0);
    weight = operands.parameter(norm.count());
    dresidual = operands.tensor(TensorName::residual);
    norm.take_gradients(binding, 0);
  }
  if (half.weight) dweight = operands.gradient(norm.count());
  operands.finish();

  kernels::Prepared<View, View, View, View, View, View, View, View, View> norm_backward;
  if (half.input) norm_backward = binding.prepare(&KernelSet::norm_backward, norm.backward_spec(binding, 0, false));
  const std::int64_t dnorm_at = binding.scratch.add_temporary(half.input ? residual.bytes() : 0);
  const LogitGradients gradients(binding, linear_of(binding, binding.tokens()),
                                 half.weight && binding.adds(norm.count()));
  return binding.launch([=](const LaunchContext&, std::byte* temporaries, const kernels::Stream& stream) {
    if (half.weight) gradients.weight(dweight, dlogits, normed, stream);
    if (!half.input) return;
    const View dnorm{temporaries + dnorm_at, residual.type, residual.shape};
    gradients.input(dnorm, dlogits, weight, stream);
    norm_backward.launch(dresidual, norm.dweight, norm.dbias, dnorm, residual, norm.mean, norm.rstd, norm.weight,
                         View{}, stream);
  });
}

}  // namespace rankscope
