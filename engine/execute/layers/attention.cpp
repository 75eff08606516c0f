// The attention core. With rotary positions it reads a copy of its operand in scratch memory, in which queries and keys
// are turned and every head of queries has its keys and values; that copy is not kept but made again in backward.
#include "engine/execute/layers/layers.hpp"

namespace rankscope {
namespace {

using kernels::KernelSet;

kernels::AttentionSpec spec_of(const Binding& binding) {
  const ModelSpec& model = binding.model.spec;
  const int ranks = binding.model.tensor;  // each has a part of the heads
  return {.type = binding.model.type,
          .samples = binding.model.micro_batch_size,
          .context = model.context,
          .heads = model.heads / ranks,
          .width = model.width / ranks};
}

kernels::RotarySpec rotary_of(const Binding& binding) {
  const ModelSpec& model = binding.model.spec;
  const int ranks = binding.model.tensor;
  return {.type = binding.model.type,
          .samples = binding.model.micro_batch_size,
          .context = model.context,
          .heads = model.heads / ranks,
          .key_value_heads = model.heads_of_keys() / ranks,
          .depth = model.width / model.heads,
          .theta = model.rope_theta};
}

/// The turned copy, or its gradient.
class Spread {
 public:
  explicit Spread(Binding& binding)
      : spec_(rotary_of(binding)),
        at_(binding.scratch.add_temporary(spec_.rows() * spec_.spread_width() * bytes_of(spec_.type))) {}
  View in(std::byte* temporaries) const {
    return {temporaries + at_, spec_.type, {spec_.rows(), spec_.spread_width()}};
  }

 private:
  kernels::RotarySpec spec_;
  std::int64_t at_;
};

}  // namespace

Launch attention_forward(Binding binding) {
  const View qkv = binding.operands.tensor(TensorName::qkv);
  const View softmax = binding.operands.tensor(TensorName::softmax);
  const View attended = binding.operands.tensor(TensorName::attended);
  binding.operands.finish();

  auto attend = binding.prepare(&KernelSet::attention_forward, spec_of(binding));
  if (!binding.layer<layer::Attention>().rotary)
    return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
      attend.launch(attended, softmax, qkv, stream);
    });
  const Spread turned(binding);
  auto turn = binding.prepare(&KernelSet::rotary_forward, rotary_of(binding));
  return binding.launch([=](const LaunchContext&, std::byte* temporaries, const kernels::Stream& stream) {
    turn.launch(turned.in(temporaries), qkv, stream);
    attend.launch(attended, softmax, turned.in(temporaries), stream);
  });
}

Launch attention_backward(Binding binding) {
  const View dattended = binding.operands.tensor(TensorName::attended);
  const View qkv = binding.operands.tensor(TensorName::qkv);
  const View softmax = binding.operands.tensor(TensorName::softmax);
  const View attended = binding.operands.tensor(TensorName::attended);
  const View dqkv = binding.operands.tensor(TensorName::qkv);
  binding.operands.finish();

  auto attend = binding.prepare(&KernelSet::attention_backward, spec_of(binding));
  if (!binding.layer<layer::Attention>().rotary)
    return binding.launch([=](const LaunchContext&, std::byte*, const kernels::Stream& stream) {
      attend.launch(dqkv, dattended, qkv, softmax, attended, stream);
    });
  const Spread turned(binding), gradient(binding);
  auto turn = binding.prepare(&KernelSet::rotary_forward, rotary_of(binding));
  auto turn_back = binding.prepare(&KernelSet::rotary_backward, rotary_of(binding));
  return binding.launch([=](const LaunchContext&, std::byte* temporaries, const kernels::Stream& stream) {
    turn.launch(turned.in(temporaries), qkv, stream);
    attend.launch(gradient.in(temporaries), dattended, turned.in(temporaries), softmax, attended, stream);
    turn_back.launch(dqkv, gradient.in(temporaries), stream);
  });
}

}  // namespace rankscope
