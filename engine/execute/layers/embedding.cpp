// Token and position embedding, with dropout on their sum.
#include "engine/execute/layers/layers.hpp"

namespace rankscope {
namespace {

kernels::EmbeddingSpec spec_of(const Binding& binding) {
  const ModelSpec& model = binding.model.spec;
  return {.type = binding.model.type,
          .samples = binding.model.micro_batch_size,
          .context = model.context,
          .vocabulary = model.vocabulary,
          .width = model.width};
}

}  // namespace

Launch embedding_forward(Binding binding) {
  using kernels::KernelSet;
  const View tokens = binding.operands.tensor(TensorName::tokens);
  const View wte = binding.operands.parameter(0), wpe = binding.operands.parameter(1);
  const View output = binding.operands.tensor(TensorName::output);
  binding.operands.finish();

  auto embed = binding.prepare(&KernelSet::embedding_forward, spec_of(binding));
  auto dropout = binding.prepare(&KernelSet::dropout, dropout_of(binding));
  return binding.launch([=, drops = binding.dropout() > 0, context_tokens = binding.model.spec.context](
                            const LaunchContext& context, std::byte*, const kernels::Stream& stream) {
    embed.launch(output, tokens, wte, wpe, stream);
    if (drops) dropout.launch(output, output, View{}, dropout_draw(context, context_tokens), stream);
  });
}

Launch embedding_backward(Binding binding) {
  using kernels::KernelSet;
  const View doutput = binding.operands.tensor(TensorName::output);
  const View tokens = binding.operands.tensor(TensorName::tokens);
  const View dwte = binding.operands.gradient(0), dwpe = binding.operands.gradient(1);
  binding.operands.finish();

  auto spec = spec_of(binding);
  spec.accumulate_tokens = binding.adds(0);
  spec.accumulate_positions = binding.adds(1);
  auto embed = binding.prepare(&KernelSet::embedding_backward, spec);
  auto dropout = binding.prepare(&KernelSet::dropout, dropout_of(binding));
  const bool drops = binding.dropout() > 0;
  const std::int64_t dropped_at = binding.scratch.add_temporary(drops ? doutput.bytes() : 0);
  return binding.launch([=, context_tokens = binding.model.spec.context](
                            const LaunchContext& context, std::byte* temporaries, const kernels::Stream& stream) {
    View gradient = doutput;
    if (drops) {
      gradient.data = temporaries + dropped_at;
      dropout.launch(gradient, doutput, View{}, dropout_draw(context, context_tokens), stream);
    }
    embed.launch(dwte, dwpe, gradient, tokens, stream);
  });
}

}  // namespace rankscope
