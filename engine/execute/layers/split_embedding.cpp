// The embedding of tensor ranks: each looks up its rows of the token matrix, and after their sum adds the positions, if
// they are learned, and applies dropout. The lookup is also the whole embedding of one rank without learned positions.
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
  const View embedded = binding.operands.tensor(binding.output(0));
  binding.operands.finish();

  const auto spec = tokens_of(binding);
  auto embed = binding.prepare(&KernelSet::token_embedding_forward, spec);
  return binding.launch([=](const LaunchContext& context, std::byte*, const kernels::Stream& stream) {
    embed.launch(embedded, tokens, wte, context.tensor * spec.vocabulary, stream);
  });
}

Launch token_embedding_backward(Binding binding) {
  const View dembedded = binding.operands.tensor(binding.output(0));
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

namespace {

/// The sum's rows, or their gradient, from one tensor to the other: there are no positions.
Launch copy_between(Binding binding, TensorName from, TensorName to) {
  const View x = binding.operands.tensor(from), y = binding.operands.tensor(to);
  binding.operands.finish();
  return binding.launch([=, &workspace = binding.workspace](const LaunchContext&, std::byte*, const kernels::Stream&) {
    workspace.queue().copy(y.data, x.data, x.bytes());
  });
}

}  // namespace

Launch positions_forward(Binding binding) {
  if (!binding.layer<layer::Positions>().learned) return copy_between(binding, binding.input(0), TensorName::output);
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
  if (!binding.layer<layer::Positions>().learned) return copy_between(binding, TensorName::output, binding.input(0));
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
