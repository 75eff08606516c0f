#include "engine/optimizer/rule/rule.hpp"

#include <stdexcept>

#include "engine/optimizer/rule/rules.hpp"

namespace rankscope {

std::span<const OptimizerRule> optimizer_rules() {
  static const OptimizerRule table[] = {rules::sgd(),       rules::momentum(), rules::adagrad(),
                                        rules::adam(),      rules::adamw(),    rules::radam(),
                                        rules::adafactor(), rules::adam8bit(), rules::sophia()};
  return table;
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const OptimizerRule& rule : optimizer_rules()) names.emplace_back(rule.name);
  return names;
}

const OptimizerRule& optimizer_rule(std::string_view name) {
  for (const OptimizerRule& rule : optimizer_rules())
    if (rule.name == name) return rule;
  std::string message = "unknown optimizer '" + std::string(name) + "'; known:";
  for (const OptimizerRule& rule : optimizer_rules()) message.append(" ").append(rule.name);
  throw std::invalid_argument(message);
}

std::vector<StateSpec> states_of(const OptimizerRule& rule, const UpdateTarget& target) {
  std::vector<StateSpec> states = rule.states(target);
  if (target.master()) states.insert(states.begin(), rules::like(target, "master"));
  return states;
}

}  // namespace rankscope
