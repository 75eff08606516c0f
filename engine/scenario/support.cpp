#include "engine/scenario/support.hpp"

#include "engine/optimizer/rule/rule.hpp"

namespace rankscope {
namespace {

constexpr Choice choices[] = {
    {"model.kind", "gpt", true},

    {"plan.schedule", "naive", true},
    {"plan.schedule", "gpipe", true},
    {"plan.schedule", "1f1b", true},
    {"plan.schedule", "interleaved", true},
    {"plan.schedule", "zb-h1", true},
    {"plan.schedule", "zb-h2", true},
    {"plan.schedule", "zb-2p", true},
    {"plan.schedule", "zb-v", true},
    {"plan.schedule", "by-hand", true},

    {"plan.offload", "none", true},
    {"plan.offload", "optimizer", true},

    {"plan.data_parallel", "all-reduce", true},
    {"plan.data_parallel", "main-device", true},
    {"plan.data_parallel", "parameter-server", true},

    {"plan.recompute", "none", true},
    {"plan.recompute", "blocks", true},
    {"plan.recompute", "sqrt", true},
    {"plan.recompute", "selective", true},

    {"plan.precision", "fp64", true},
    {"plan.precision", "fp32", true},
    {"plan.precision", "bf16", true},
    {"plan.precision", "fp16", true},

    {"plan.collective", "auto", true},
    {"plan.collective", "ring", true},
    {"plan.collective", "naive", true},
    {"plan.collective", "tree", true},
    {"plan.collective", "halving-doubling", true},

    {"train.decay", "none", true},
    {"train.decay", "linear", true},
    {"train.decay", "cosine", true},

    {"cluster.attention", "flash", true},
    {"cluster.attention", "stored", true},
    {"cluster.accumulation", "fused", true},
    {"cluster.accumulation", "added", true},
    {"cluster.accumulation", "copied", true},

    {"fault.plant", "", true},
    {"fault.plant", "gradient_scale", true},
    {"fault.plant", "dropped_micro_batch", true},
    {"fault.plant", "skipped_norm_term", true},
    {"fault.plant", "norm_counted_twice", true},
    {"fault.plant", "untied_embedding", true},
    {"fault.plant", "unsynchronised_norms", true},
    {"fault.plant", "unmasked_padding", true},
    {"fault.plant", "early_gather_read", true},
    {"fault.plant", "overflow", true},
};

}  // namespace

std::vector<std::string> choices_here(std::string_view key) {
  if (key == "train.optimizer") return optimizer_names();  // they have a table of their own
  std::vector<std::string> values;
  for (const Choice& choice : choices)
    if (choice.key == key && choice.here && !choice.value.empty()) values.emplace_back(choice.value);
  return values;
}

std::vector<std::string> choices_known(std::string_view key) {
  if (key == "train.optimizer") return optimizer_names();  // they have a table of their own
  std::vector<std::string> values;
  for (const Choice& choice : choices)
    if (choice.key == key) values.emplace_back(choice.value);
  return values;
}

}  // namespace rankscope
