// The attention core.
#include "engine/execute/layers/layers.hpp"

namespace rankscope {
namespace {

kernels::AttentionSpec spec_of(const Binding& binding) {
  const ModelSpec& model = binding.model.spec;
  const int ranks = binding.model.tensor;  // each has a part of the heads
  return {.type = binding.model.type,
          .samples = binding.model.micro_batch_size,
          .context = model.context,
          .heads = model.heads / ranks,
          .width = model.width / ranks};
}

}  // namespace

Launch attention_forward(Binding binding) {
  const View qkv = binding.operands.tensor(TensorName::qkv);
  const View softmax = binding.operands.tensor(TensorName::softmax);
  const View attended = binding.operands.tensor(TensorName::attended);
  binding.operands.finish();

  auto attend = binding.prepare(&kernels::KernelSet::attention_forward, spec_of(binding));
  return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    attend.launch(attended, softmax, qkv, stream);
  });
}

Launch attention_backward(Binding binding) {
  const View dattended = binding.operands.tensor(TensorName::attended);
  const View qkv = binding.operands.tensor(TensorName::qkv);
  const View softmax = binding.operands.tensor(TensorName::softmax);
  const View attended = binding.operands.tensor(TensorName::attended);
  const View dqkv = binding.operands.tensor(TensorName::qkv);
  binding.operands.finish();

  auto attend = binding.prepare(&kernels::KernelSet::attention_backward, spec_of(binding));
  return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
    attend.launch(dqkv, dattended, qkv, softmax, attended, stream);
  });
}

}  // namespace rankscope
