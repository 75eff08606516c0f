#include "engine/plan/scenario/usual_names.hpp"

#include <fmt/format.h>

#include <string>

#include "engine/op/words.hpp"
#include "engine/plan/scenario/keys.hpp"

namespace rankscope {
namespace {

/// `hint`: the value that has the meaning of the name, if the key alone does not say it.
struct KeyName {
  std::string_view usual, path, hint = {};
};
struct ValueName {
  std::string_view path, usual, value;
};
struct Absent {
  std::string_view begin;  ///< of the names
  std::string_view words;
};

// In lower case, with _ between words. Megatron-LM, DeepSpeed, torchtitan, transformers, nanoGPT, Llama's and GPT-2's
// configuration.
constexpr KeyName key_names[] = {
    {"lr", "train.learning_rate"},
    {"min_lr", "train.min_learning_rate"},
    {"lr_warmup_iters", "train.warmup_steps"},
    {"lr_decay_iters", "train.decay_steps"},
    {"lr_decay_style", "train.decay"},
    {"lr_scheduler_type", "train.decay"},
    {"optim", "train.optimizer"},
    {"batch_size", "train.global_batch"},
    {"global_batch_size", "train.global_batch"},
    {"train_batch_size", "train.global_batch"},
    {"gbs", "train.global_batch"},
    {"iterations", "train.steps"},
    {"train_iters", "train.steps"},
    {"max_steps", "train.steps"},
    {"save_interval", "train.checkpoint_every"},
    {"save_steps", "train.checkpoint_every"},
    {"wd", "train.weight_decay"},
    {"clip_grad", "train.clip"},
    {"grad_clip", "train.clip"},
    {"max_grad_norm", "train.clip"},
    {"max_norm", "train.clip"},
    {"gradient_clipping", "train.clip"},
    {"eps", "train.epsilon"},
    {"adam_eps", "train.epsilon"},
    {"adam_epsilon", "train.epsilon"},
    {"adam_beta1", "train.beta1"},
    {"adam_beta2", "train.beta2"},
    {"initial_loss_scale", "train.loss_scale"},
    {"tp", "plan.tensor"},
    {"tp_size", "plan.tensor"},
    {"tensor_model_parallel_size", "plan.tensor"},
    {"tensor_parallel_degree", "plan.tensor"},
    {"tensor_parallel_size", "plan.tensor"},
    {"pp", "plan.pipeline"},
    {"pp_size", "plan.pipeline"},
    {"pipeline_model_parallel_size", "plan.pipeline"},
    {"pipeline_parallel_degree", "plan.pipeline"},
    {"pipeline_parallel_size", "plan.pipeline"},
    {"pipeline_parallel_schedule", "plan.schedule"},
    {"dp", "plan.data"},
    {"dp_size", "plan.data"},
    {"data_parallel_size", "plan.data"},
    {"data_parallel_replicate_degree", "plan.data"},
    {"data_parallel_shard_degree", "plan.data", "with zero = 3 parameters are sharded"},
    {"vpp", "plan.virtual"},
    {"virtual_pipeline_model_parallel_size", "plan.virtual"},
    {"num_layers_per_virtual_pipeline_stage", "plan.virtual", "it is the number of chunks on a rank"},
    {"num_microbatches", "plan.micro_batches"},
    {"gradient_accumulation_steps", "plan.micro_batches"},
    {"mbs", "plan.micro_batch_size"},
    {"train_micro_batch_size_per_gpu", "plan.micro_batch_size"},
    {"per_device_train_batch_size", "plan.micro_batch_size"},
    {"pipeline_parallel_microbatch_size", "plan.micro_batch_size"},
    {"dtype", "plan.precision"},
    {"mixed_precision", "plan.precision"},
    {"zero_stage", "plan.zero"},
    {"use_distributed_optimizer", "plan.zero", "zero = 1 is a distributed optimizer"},
    {"fsdp", "plan.zero", "zero = 3 shards the parameters"},
    {"offload_optimizer", "plan.offload"},
    {"cpu_offload", "plan.offload"},
    {"reduce_bucket_size", "plan.bucket_mib"},
    {"bucket_cap_mb", "plan.bucket_mib"},
    {"activation_checkpointing", "plan.recompute"},
    {"activation_checkpoint", "plan.recompute"},
    {"gradient_checkpointing", "plan.recompute"},
    {"recompute_granularity", "plan.recompute"},
    {"seq_len", "model.context"},
    {"seq_length", "model.context"},
    {"sequence_length", "model.context"},
    {"block_size", "model.context"},
    {"max_position_embeddings", "model.context"},
    {"n_positions", "model.context"},
    {"n_ctx", "model.context"},
    {"hidden_size", "model.width"},
    {"d_model", "model.width"},
    {"n_embd", "model.width"},
    {"dim", "model.width"},
    {"num_layers", "model.layers"},
    {"num_hidden_layers", "model.layers"},
    {"n_layer", "model.layers"},
    {"n_layers", "model.layers"},
    {"num_heads", "model.heads"},
    {"num_attention_heads", "model.heads"},
    {"n_head", "model.heads"},
    {"n_heads", "model.heads"},
    {"num_key_value_heads", "model.key_value_heads"},
    {"num_query_groups", "model.key_value_heads"},
    {"n_kv_heads", "model.key_value_heads"},
    {"intermediate_size", "model.inner"},
    {"ffn_hidden_size", "model.inner"},
    {"ffn", "model.inner"},
    {"rms_norm_eps", "model.norm_epsilon"},
    {"norm_eps", "model.norm_epsilon"},
    {"layernorm_epsilon", "model.norm_epsilon"},
    {"rotary_base", "model.rope_theta"},
    {"vocab_size", "model.vocabulary"},
    {"padded_vocab_size", "model.vocabulary"},
    {"tie_word_embeddings", "model.tied"},
    {"untie_embeddings_and_output_weights", "model.tied", "it is tied = false"},
};

constexpr ValueName value_names[] = {
    {"plan.recompute", "full", "blocks"},
    {"plan.recompute", "all", "blocks"},
    {"plan.precision", "float64", "fp64"},
    {"plan.precision", "double", "fp64"},
    {"plan.precision", "float32", "fp32"},
    {"plan.precision", "float", "fp32"},
    {"plan.precision", "bfloat16", "bf16"},
    {"plan.precision", "float16", "fp16"},
    {"plan.precision", "half", "fp16"},
    {"plan.schedule", "interleaved1f1b", "interleaved"},
    {"plan.schedule", "interleaved_1f1b", "interleaved"},
    {"plan.schedule", "zerobubble", "zb-h1"},
    {"plan.schedule", "zbvzerobubble", "zb-v"},
    {"plan.schedule", "pipedream", "1f1b-async"},
    {"train.optimizer", "adam", "adamw"},
};

constexpr std::string_view no_experts = "there are no mixtures of experts yet";
constexpr std::string_view no_fp8 = "there are no 8-bit or 4-bit floating-point types yet; bf16 is the nearest";
constexpr std::string_view no_context = "context parallelism is not there yet";
constexpr Absent absents[] = {
    {"expert", no_experts},
    {"num_expert", no_experts},
    {"n_expert", no_experts},
    {"num_local_expert", no_experts},
    {"moe", no_experts},
    {"mixtral", no_experts},
    {"fp8", no_fp8},
    {"fp4", no_fp8},
    {"float8", no_fp8},
    {"mxfp", no_fp8},
    {"nvfp4", no_fp8},
    {"context_parallel", no_context},
    {"cp_size", no_context},
    {"ring_attention", no_context},
    {"sliding_window", "attention is always over the whole context: sliding windows are not there yet"},
    {"rope_scaling", "rotary positions are not scaled: that is not there yet"},
    {"lora", "all parameters are trained: low-rank adapters are not there yet"},
    {"mamba", "state-space layers are not there yet"},
    {"dualpipe", "DualPipe is not there yet; zb-v is the nearest"},
};

/// "seq_len" of "Seq-Len".
std::string written_plainly(std::string_view name) {
  std::string text = lowered(name);
  for (char& c : text)
    if (c == '-') c = '_';
  return text;
}

}  // namespace

std::string usual_key(std::string_view name, std::string_view table) {
  const std::string text = written_plainly(name);
  for (const KeyName& one : key_names) {
    if (one.usual != text) continue;
    const Key& key = *find_key(one.path);
    std::string meant = fmt::format("did you mean '{}'", key.name);
    if (key.table != table && !table.empty()) meant += fmt::format(" of [{}]", key.table);
    return meant + "?" + (one.hint.empty() ? "" : " " + std::string(one.hint));
  }
  return std::string(absent_feature(name));
}

std::string_view value_called(std::string_view path, std::string_view name) {
  const std::string text = written_plainly(name);
  for (const ValueName& one : value_names)
    if (one.path == path && one.usual == text) return one.value;
  return {};
}

std::string_view absent_feature(std::string_view name) {
  const std::string text = written_plainly(name);
  for (const Absent& one : absents)
    if (text.starts_with(one.begin)) return one.words;
  return {};
}

}  // namespace rankscope
