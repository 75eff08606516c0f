#include "telemetry/store/names.hpp"

#include <fmt/format.h>

namespace rankscope {
namespace {

/// Without the result's type, template arguments and parameters.
std::string plain_name(const std::string& name) {
  std::string text;
  int depth = 0;
  for (const char c : name) {
    if (c == '(' && depth == 0 && !text.empty() && text.back() != ' ' && text.back() != ':') break;
    depth += c == '<';
    if (depth == 0) text += c;
    depth -= c == '>' && depth > 0;
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  if (const auto blank = text.find("void "); blank == 0) text.erase(0, 5);
  return text;
}

}  // namespace

std::string name_of_op(const StoreView& run, int rank, OpId op) {
  const StepFacts* facts = run.facts(rank);
  const StepFacts::Name* name = facts == nullptr ? nullptr : facts->name_of(op);
  return name == nullptr ? to_token(op) : name->text;
}

std::vector<std::string> forms_of_op(const StoreView& run, int rank, OpId op) {
  std::vector<std::string> forms{name_of_op(run, rank, op)};
  if (!op.is_observed()) return forms;
  if (const StepFacts::Group* group = run.facts(rank) != nullptr ? run.facts(rank)->group_of(op) : nullptr)
    forms.insert(forms.begin(), fmt::format("{} · {}", forms[0], group->name));
  const std::string plain = plain_name(forms.back());
  if (!plain.empty() && plain != forms.back()) forms.push_back(plain);
  const auto colons = forms.back().rfind("::");
  if (colons != std::string::npos && colons + 2 < forms.back().size()) forms.push_back(forms.back().substr(colons + 2));
  return forms;
}

std::string name_of_lane(const StoreView& run, int rank, Lane lane) {
  if (!is_observed(lane)) return std::string(name_of(lane));
  if (const StepFacts* facts = run.facts(rank))
    if (const auto found = facts->lanes.find(lane); found != facts->lanes.end()) return found->second;
  return fmt::format("lane {}", static_cast<int>(lane));
}

}  // namespace rankscope
