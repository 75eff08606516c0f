#include "engine/plan/scenario/collective.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/keys.hpp"

namespace rankscope {
namespace {

constexpr int most_members = 1024;  // an all-to-all of this number has a million transfers
constexpr int most_exact = 256;     // integers that bf16, the least precise type, can represent

constexpr std::array<std::string_view, 3> keys_of_plan{"data", "collective", "precision"};

/// As in a file.
std::string in_toml(const Key& key, Scenario scenario) {
  const Field field = key.field(scenario);
  const bool is_word = std::holds_alternative<std::string*>(field) || std::holds_alternative<AnyChoice*>(field);
  return is_word ? "\"" + written(field) + "\"" : written(field);
}

}  // namespace

std::optional<Complaint> collective_complaint(const Scenario& scenario) {
  const ModelSpec& model = scenario.model;
  const bool is_planted = scenario.fault.plant == Plant::lost_part;
  if (!model.is_collective()) {
    if (!is_planted) return std::nullopt;
    return Complaint{
        {"fault.plant", "model.kind"},
        "the fault \"lost_part\" is of a collective alone; use it with kind = \"collective\" in [model], or "
        "remove it"};
  }
  if (!is_planted && scenario.fault.plant != Plant::none)
    return Complaint{{"fault.plant", "model.kind"},
                     "a collective alone has no fault \"" + scenario.fault.plant.name() +
                         "\" to plant; use plant = \"lost_part\", or remove it"};
  const Scenario plain_one;
  for (const Key& key : scenario_keys()) {
    if (!key.is_of_plan() || contains(keys_of_plan, key.name)) continue;
    const std::string value = in_toml(key, scenario), right = in_toml(key, plain_one), name(key.name);
    if (value == right) continue;
    constexpr std::size_t most_shown = 40;  // an order by hand may have thousands of characters
    const std::string shown = value.size() <= most_shown ? value : value.substr(0, most_shown) + "…\"";
    return Complaint{
        {key.path(), "model.kind"},
        fmt::format("a collective alone is among plan.data ranks and has no use for {0} = {1}; use {0} = {2}", name,
                    shown, right)};
  }
  if (scenario.train.checkpoint_every > 0)
    return Complaint{{"train.checkpoint_every", "model.kind"},
                     "a single collective trains nothing to save in a checkpoint; use checkpoint_every = 0"};
  const int ranks = scenario.plan.data;
  if (ranks > most_members)
    return Complaint{{"plan.data", "model.kind"},
                     fmt::format("a collective alone is among at most {}, and data is {}; data = {} would do",
                                 counted(most_members, "rank"), ranks, most_members)};
  if (is_sum(model.operation_kind()) && scenario.plan.precision == Precision::bf16 && ranks > most_exact)
    return Complaint{
        {"plan.precision", "plan.data"},
        fmt::format("a sum over {} cannot be checked in bf16, which counts to {}; use precision = \"fp32\"",
                    counted(ranks, "rank"), most_exact)};
  if (has_root(model.operation_kind()) && model.root >= ranks)
    return Complaint{{"model.root", "plan.data"}, out_of_range("root", model.root, "ranks", ranks)};
  return std::nullopt;
}

}  // namespace rankscope
