#include "engine/plan/scenario/usual_names.hpp"

#include <string>

#include "engine/op/words.hpp"

namespace rankscope {
namespace {

struct KeyName {
  std::string_view usual, path;
};
struct ValueName {
  std::string_view path, usual, value;
};

// In lower case, with _ between words.
constexpr KeyName key_names[] = {
    {"lr", "train.learning_rate"},
    {"min_lr", "train.min_learning_rate"},
    {"batch_size", "train.global_batch"},
    {"global_batch_size", "train.global_batch"},
    {"gbs", "train.global_batch"},
    {"iterations", "train.steps"},
    {"train_iters", "train.steps"},
    {"max_steps", "train.steps"},
    {"wd", "train.weight_decay"},
    {"clip_grad", "train.clip"},
    {"eps", "train.epsilon"},
    {"tp", "plan.tensor"},
    {"tp_size", "plan.tensor"},
    {"pp", "plan.pipeline"},
    {"pp_size", "plan.pipeline"},
    {"dp", "plan.data"},
    {"dp_size", "plan.data"},
    {"vpp", "plan.virtual"},
    {"num_microbatches", "plan.micro_batches"},
    {"gradient_accumulation_steps", "plan.micro_batches"},
    {"dtype", "plan.precision"},
    {"zero_stage", "plan.zero"},
    {"activation_checkpointing", "plan.recompute"},
    {"seq_len", "model.context"},
    {"seq_length", "model.context"},
    {"sequence_length", "model.context"},
    {"block_size", "model.context"},
    {"hidden_size", "model.width"},
    {"d_model", "model.width"},
    {"n_embd", "model.width"},
    {"num_layers", "model.layers"},
    {"n_layer", "model.layers"},
    {"num_heads", "model.heads"},
    {"n_head", "model.heads"},
    {"num_key_value_heads", "model.key_value_heads"},
    {"intermediate_size", "model.inner"},
    {"rms_norm_eps", "model.norm_epsilon"},
    {"vocab_size", "model.vocabulary"},
};

constexpr ValueName value_names[] = {
    {"plan.recompute", "full", "blocks"},   {"plan.recompute", "all", "blocks"},
    {"plan.precision", "float64", "fp64"},  {"plan.precision", "double", "fp64"},
    {"plan.precision", "float32", "fp32"},  {"plan.precision", "float", "fp32"},
    {"plan.precision", "bfloat16", "bf16"}, {"plan.precision", "float16", "fp16"},
    {"plan.precision", "half", "fp16"},
};

/// "seq_len" of "Seq-Len".
std::string written_plainly(std::string_view name) {
  std::string text = lowered(name);
  for (char& c : text)
    if (c == '-') c = '_';
  return text;
}

}  // namespace

std::string_view key_called(std::string_view name) {
  const std::string text = written_plainly(name);
  for (const KeyName& one : key_names)
    if (one.usual == text) return one.path;
  return {};
}

std::string_view value_called(std::string_view path, std::string_view name) {
  const std::string text = written_plainly(name);
  for (const ValueName& one : value_names)
    if (one.path == path && one.usual == text) return one.value;
  return {};
}

}  // namespace rankscope
