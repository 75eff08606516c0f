#include "engine/plan/scenario/llama.hpp"

#include <fmt/format.h>

#include <string>

#include "engine/op/words.hpp"

namespace rankscope {

std::optional<Complaint> llama_complaint(const Scenario& scenario) {
  const ModelSpec& model = scenario.model;
  if (model.kind != ModelKind::llama) return std::nullopt;
  const int heads = model.heads, keys = model.heads_of_keys(), tensor = scenario.plan.tensor;
  if (model.width % heads != 0)  // whose advice is that of any transformer
    return std::nullopt;
  if (heads % keys != 0)
    return Complaint{{"model.key_value_heads", "model.heads"},
                     fmt::format("{} cannot be grouped over key_value_heads = {}; a number that divides them would do",
                                 counted(heads, "head"), keys)};
  if (model.width / heads % 2 != 0)
    return Complaint{{"model.heads", "model.width"},
                     fmt::format("rotary positions turn pairs of numbers, and a head of width {} over {} has {}; heads "
                                 "of an even width would do",
                                 model.width, counted(heads, "head"), model.width / heads)};
  if (model.dropout > 0) return Complaint{{"model.dropout", "model.kind"}, "a llama has no dropout; use dropout = 0"};
  if (heads % tensor == 0 && keys % tensor != 0)
    return Complaint{
        {"model.key_value_heads", "plan.tensor"},
        fmt::format("key_value_heads = {} cannot be shared by {}, which would need copies of them; use tensor = {}, or "
                    "key_value_heads = {}",
                    keys, counted(tensor, "tensor rank"), keys, heads)};
  if (model.mlp_width() % tensor != 0)
    return Complaint{{"model.inner", "plan.tensor"},
                     fmt::format("an MLP of width {} cannot be shared by {}; inner = {} would do", model.mlp_width(),
                                 counted(tensor, "tensor rank"), (model.mlp_width() + tensor - 1) / tensor * tensor)};
  return std::nullopt;
}

}  // namespace rankscope
