#include "engine/lesson/lab/check_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/lesson/lab/question.hpp"
#include "engine/lesson/lab/symbols.hpp"
#include "engine/lesson/lab/view_inputs.hpp"
#include "engine/op/contains.hpp"
#include "engine/op/op_id.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope {
namespace {

constexpr std::string_view blank_letters = " \t\r\n";

/// The text after each --set: "micro_batches=16"; quotes keep blank_letters. A line may end between the two.
std::vector<std::string> settings_in(std::string_view text) {
  constexpr std::string_view option = "--set";
  std::vector<std::string> settings;
  for (std::size_t at = text.find(option); at != std::string_view::npos; at = text.find(option, at)) {
    at += option.size();
    const std::size_t begin = text.find_first_not_of(blank_letters, at);
    if (begin == at || begin == std::string_view::npos) continue;  // "--setting", or nothing after it
    std::string setting;
    bool quoted = false;
    for (at = begin; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '"') {
        quoted = !quoted;
        continue;
      }
      if (c == '`' || (!quoted && blank_letters.find(c) != std::string_view::npos)) break;
      setting += c;
    }
    while (!setting.empty() && std::string_view(",.;:)").find(setting.back()) != std::string_view::npos)
      setting.pop_back();
    // "`--set` changes a key": not a setting.
    if (text[begin] != '`' && setting.find('=') != std::string::npos) settings.push_back(std::move(setting));
  }
  return settings;
}

/// A placeholder value.
bool is_placeholder(const std::string& value) {
  return value.empty() || value.find("…") != std::string::npos || value.find('<') != std::string::npos ||
         std::all_of(value.begin(), value.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

void check_setting(const std::string& setting, std::vector<std::string>& faults) {
  const std::string at = "--set " + setting;
  try {
    const Override given = parse_override(setting);
    full_key(given.key, at);
    if (is_placeholder(given.value)) return;
    Scenario scratch;
    set_value(scratch, given, at);
  } catch (const ScenarioError& error) {
    faults.emplace_back(error.what());
  }
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Why a link does not accept this value for that key; empty: it does.
std::string fault_of_parameter(std::string_view view, std::string_view key, std::string_view value) {
  if (key == "step") return is_number(value) || value == "last" ? "" : "step takes a number or \"last\"";
  if (key == "rank") return is_number(value) ? "" : "rank takes a number";
  if (key != "op") return fault_of_input(view, key, value);
  std::string error;
  return parse_token(value, &error) ? "" : "op takes a token, such as F:c0:m0; " + error;
}

void check_links(std::string_view text, std::span<const std::string_view> views, std::vector<std::string>& faults) {
  constexpr std::string_view begin = "](view:";
  for (std::size_t at = text.find(begin); at != std::string_view::npos; at = text.find(begin, at + 1)) {
    const std::size_t from = at + begin.size(), end = text.find(')', from);
    if (end == std::string_view::npos) break;
    const std::string_view link = text.substr(from, end - from);
    for (const std::string& fault : faults_of_view_link(link, views))
      faults.push_back(fmt::format("the link 'view:{}': {}", link, fault));
  }
}

}  // namespace

std::vector<std::string> undefined_symbols(std::string_view text, const std::map<std::string, std::string>& own,
                                           const Glossary& glossary) {
  std::vector<std::string> symbols = symbols_in(text);
  std::erase_if(symbols, [&](const std::string& symbol) {
    return own.count(symbol) > 0 || std::any_of(glossary.terms().begin(), glossary.terms().end(),
                                                [&](const Term& term) { return term.symbol == symbol; });
  });
  return symbols;
}

std::vector<std::string> faults_of_view_link(std::string_view link, std::span<const std::string_view> views) {
  std::vector<std::string> faults;
  const std::size_t question = std::min(link.find('?'), link.size());
  const std::string view(link.substr(0, question));
  if (!contains(views, view)) faults.push_back(no_such("view", view, {views.begin(), views.end()}));
  std::string_view parameters = link.substr(std::min(question + 1, link.size()));
  while (!parameters.empty()) {
    const std::size_t end = std::min(parameters.find('&'), parameters.size());
    const std::string_view one = parameters.substr(0, end);
    const std::size_t equals = std::min(one.find('='), one.size());
    const std::string why =
        fault_of_parameter(view, one.substr(0, equals), one.substr(std::min(equals + 1, one.size())));
    if (!why.empty()) faults.push_back(why);
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
  }
  return faults;
}

std::vector<std::string> faults_of_text(std::string_view text, std::span<const std::string_view> views) {
  std::vector<std::string> faults;
  std::set<std::string> seen;
  for (const std::string& setting : settings_in(text))
    if (seen.insert(setting).second) check_setting(setting, faults);
  check_links(text, views, faults);
  return faults;
}

std::string no_such(std::string_view kind, const std::string& name, const std::vector<std::string>& known) {
  return fmt::format("there is no {} '{}'; {}", kind, name, nearest_or(name, known, "known: " + listed(known)));
}

}  // namespace rankscope
