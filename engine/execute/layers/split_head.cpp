// The head of tensor ranks: each multiplies with its words. The logits are never gathered. Megatron-LM all-reduces
// three numbers per token one after the other: the greatest logit, the target's logit, and the sum of the exponentials
// relative to the greatest. Here each rank sends all three at once, relative to its own greatest logit, in one
// all-gather: one latency instead of three, a communicator needs no other operation than sums, and since every rank
// combines them in the same order, all results are bit-identical.
//
// In bf16 the logits are computed in fp32, some rows at a time, unless plan.logits = "narrow". What is stored is
// exp(logit - the rank's greatest), whose rounding has only a relative error; the loss is computed from the statistics,
// which are fp32.
#include <algorithm>
#include <vector>

#include "engine/execute/layers/logit_rows.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;

/// Product and statistics of some rows.
struct Rows {
  std::int64_t first = 0, count = 0;
  kernels::Prepared<View, View, View, View, View> linear;
  kernels::Prepared<View, View, View, View, kernels::VocabularyPart> numerators;
};

kernels::LinearSpec linear_of(const Binding& binding, std::int64_t rows) {
  return {.type = binding.model.type,
          .result_type = binding.model.type,
          .rows = rows,
          .in = binding.width(),
          .out = binding.model.vocabulary_share()};
}

kernels::VocabularySpec vocabulary_of(const Binding& binding, std::int64_t rows) {
  return {.type = binding.model.type,
          .logits_type = binding.model.logits_type(),
          .rows = rows,
          .columns = binding.model.vocabulary_share(),
          .ranks = binding.model.tensor};
}

kernels::VocabularyPart part_of(const LaunchContext& context, const Model& model) {
  return {context.tensor, context.tensor * model.vocabulary_share(), model.words_of(context.tensor)};
}

}  // namespace

Launch split_head_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View normed = operands.tensor(binding.input(0)), targets = operands.tensor(TensorName::targets);
  const View weight = operands.parameter(0);
  const View logits = operands.tensor(TensorName::logits), statistics = operands.tensor(TensorName::statistics);
  operands.finish();

  const std::int64_t tokens = binding.tokens(), words = binding.model.vocabulary_share();
  const DType type = binding.model.type, logits_type = binding.model.logits_type();
  const bool in_place = logits_type == type;
  const std::int64_t row_bytes = words * bytes_of(logits_type);
  const std::int64_t rows_at_once = rows_of_forward(binding, words);

  const std::int64_t wide_at = binding.scratch.add_temporary(in_place ? 0 : rows_at_once * row_bytes);
  std::vector<Rows> blocks;
  for (std::int64_t first = 0; first < tokens; first += rows_at_once) {
    Rows rows{first, std::min(rows_at_once, tokens - first), {}, {}};
    auto linear = linear_of(binding, rows.count);
    linear.result_type = logits_type;
    rows.linear = binding.prepare(&KernelSet::linear_forward, linear);
    rows.numerators = binding.prepare(&KernelSet::vocabulary_numerators, vocabulary_of(binding, rows.count));
    blocks.push_back(std::move(rows));
  }
  return binding.launch([=, &model = binding.model, blocks = std::move(blocks)](
                            const LaunchContext& context, std::byte* temporaries, const kernels::Stream& stream) {
    for (const Rows& rows : blocks) {
      const View numerators = rows_of(logits, rows.first, rows.count);
      const View wide = in_place ? numerators : View{temporaries + wide_at, logits_type, {rows.count, words}};
      rows.linear.launch(wide, rows_of(normed, rows.first, rows.count), weight, View{}, View{}, stream);
      rows.numerators.launch(numerators, rows_of(statistics, rows.first, rows.count), wide,
                             rows_of(targets, rows.first, rows.count), part_of(context, model), stream);
    }
  });
}

Launch split_head_backward(Binding binding) {
  Operands& operands = binding.operands;
  const Half half = binding.half;
  View normed, weight, dnormed, dweight;
  if (half.weight) normed = operands.tensor(binding.input(0));
  const View dlogits = operands.tensor(TensorName::logits);
  if (half.input) {
    weight = operands.parameter(0);
    dnormed = operands.tensor(binding.input(0));
  }
  if (half.weight) dweight = operands.gradient(0);
  operands.finish();

  const LogitGradients gradients(binding, linear_of(binding, binding.tokens()), half.weight && binding.adds(0));
  return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    if (half.input) gradients.input(dnormed, dlogits, weight, stream);
    if (half.weight) gradients.weight(dweight, dlogits, normed, stream);
  });
}

Launch loss_forward(Binding binding) {
  Operands& operands = binding.operands;
  const View statistics = operands.tensor(TensorName::statistics_all), targets = operands.tensor(TensorName::targets);
  const View logits = operands.tensor(TensorName::logits), loss = operands.tensor(TensorName::loss);
  operands.finish();

  auto combine = binding.prepare(&KernelSet::vocabulary_loss, vocabulary_of(binding, binding.tokens()));
  return binding.launch(
      [=, &model = binding.model](const LaunchContext& context, std::byte*, const kernels::Stream& stream) {
        const double scale = context.loss_scale / static_cast<double>(context.global_tokens);
        combine.launch(logits, loss, statistics, targets, scale, part_of(context, model), stream);
      });
}

}  // namespace rankscope
