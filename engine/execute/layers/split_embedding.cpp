// The embedding of tensor ranks: each looks up its rows of the token matrix, and after their sum adds the positions and
// applies dropout.
#include "engine/execute/layers/layers.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;

kernels::TokenEmbeddingSpec tokens_of(const Binding& binding) {
  return {.type = binding.model.type,
          .rows = binding.tokens(),
          .vocabulary = binding.model.vocabulary_share(),
          .width = binding.width()};
}

kernels::PositionEmbeddingSpec positions_of(const Binding& binding) {
  return {.type = binding.model.type,
          .rows = binding.stream_rows(),
          .context = binding.model.spec.context,
          .width = binding.width()};
}

}  // namespace

Launch token_embedding_forward(Binding binding) {
  const View tokens = binding.operands.tensor(TensorName::tokens), wte = binding.operands.parameter(0);
  const View embedded = binding.operands.tensor(TensorName::embedded);
  binding.operands.finish();

  const auto spec = tokens_of(binding);
  auto embed = binding.prepare(&KernelSet::token_embedding_forward, spec);
  return binding.launch([=](const LaunchContext& context, std::byte*, const kernels::Stream& stream) {
    embed.launch(embedded, tokens, wte, context.tensor * spec.vocabulary, stream);
  });
}

Launch token_embedding_backward(Binding binding) {
  const View dembedded = binding.operands.tensor(TensorName::embedded);
  const View tokens = binding.operands.tensor(TensorName::tokens);
  const View dwte = binding.operands.gradient(0);
  binding.operands.finish();

  auto spec = tokens_of(binding);
  spec.accumulate = binding.adds(0);
  auto embed = binding.prepare(&KernelSet::token_embedding_backward, spec);
  return binding.launch([=](const LaunchContext& context, std::byte*, const kernels::Stream& stream) {
    embed.launch(dwte, dembedded, tokens, context.tensor * spec.vocabulary, stream);
  });
}

Launch positions_forward(Binding binding) {
  const View embedded = binding.operands.tensor(binding.input(0)), wpe = binding.operands.parameter(0);
  const View output = binding.operands.tensor(TensorName::output);
  binding.operands.finish();

  auto add = binding.prepare(&KernelSet::position_embedding_forward, positions_of(binding));
  auto dropout = binding.prepare(&KernelSet::dropout, dropout_of(binding));
  return binding.launch([=, drops = binding.dropout() > 0, &model = binding.model](
                            const LaunchContext& context, std::byte*, const kernels::Stream& stream) {
    add.launch(output, embedded, wpe, model.first_stream_token(context.tensor), stream);
    if (drops) dropout.launch(output, output, View{}, stream_dropout_draw(context, model), stream);
  });
}

Launch positions_backward(Binding binding) {
  const View doutput = binding.operands.tensor(TensorName::output);
  const View dembedded = binding.operands.tensor(binding.input(0)), dwpe = binding.operands.gradient(0);
  binding.operands.finish();

  auto spec = positions_of(binding);
  spec.accumulate = binding.adds(0);
  auto add = binding.prepare(&KernelSet::position_embedding_backward, spec);
  const DroppedGradient dropped(binding);
  return binding.launch(
      [=, &model = binding.model](const LaunchContext& context, std::byte*, const kernels::Stream& stream) {
        dropped.launch(dembedded, doutput, context, stream);
        add.launch(dwpe, dembedded, model.first_stream_token(context.tensor), stream);
      });
}

}  // namespace rankscope
