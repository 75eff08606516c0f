#include "engine/scenario/choices.hpp"

#include <initializer_list>

#include "engine/optimizer/rule/rule.hpp"

namespace rankscope {
namespace {

struct Choice {
  std::string_view key;
  std::initializer_list<std::string_view> values;
};

const Choice choices_of_keys[] = {
    {"model.kind", {"gpt", "resnet"}},
    {"plan.schedule", {"naive", "gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-2p", "zb-v", "by-hand"}},
    {"plan.offload", {"none", "optimizer"}},
    {"plan.data_parallel", {"all-reduce", "main-device", "parameter-server"}},
    {"plan.recompute", {"none", "blocks", "sqrt", "selective"}},
    {"plan.precision", {"fp64", "fp32", "bf16", "fp16"}},
    {"plan.collective", {"auto", "ring", "naive", "tree", "halving-doubling"}},
    {"train.decay", {"none", "linear", "cosine"}},
    {"cluster.attention", {"flash", "stored"}},
    {"cluster.accumulation", {"fused", "added", "copied", "flat"}},
    {"fault.plant",
     {"", "gradient_scale", "dropped_micro_batch", "skipped_norm_term", "norm_counted_twice", "untied_embedding",
      "unsynchronised_norms", "unmasked_padding", "early_gather_read", "overflow"}},
};

}  // namespace

std::vector<std::string> choices(std::string_view key) {
  if (key == "train.optimizer") return optimizer_names();  // they have a table of their own
  for (const Choice& choice : choices_of_keys)
    if (choice.key == key) return {choice.values.begin(), choice.values.end()};
  return {};
}

}  // namespace rankscope
