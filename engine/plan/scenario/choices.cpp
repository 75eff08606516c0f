#include "engine/plan/scenario/choices.hpp"

#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/plan/scenario/keys.hpp"

namespace rankscope {

std::vector<std::string> choices(std::string_view key) {
  if (key == "train.optimizer") return optimizer_names();  // they have their own table
  const Key* found = find_key(key);
  if (found == nullptr) return {};
  Scenario scratch;
  const Field field = found->field(scratch);
  const auto* choice = std::get_if<AnyChoice*>(&field);
  if (choice == nullptr) return {};
  return {(*choice)->names().begin(), (*choice)->names().end()};
}

}  // namespace rankscope
