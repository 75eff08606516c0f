// `rankscope-engine keys`: what a scenario file may contain, from the table that reads it.
#include "engine/plan/scenario/keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>

#include "engine/op/contains.hpp"
#include "engine/plan/scenario/choices.hpp"
#include "engine/worker/commands/command.hpp"

namespace rankscope::command {
namespace {

/// A greater end is only the type's.
constexpr double no_end = 2e9;

std::string range_words(const Range& range, bool whole) {
  const std::string kind = whole ? "integer" : "number";
  if (range.least == 0 && range.greatest == 0) return kind;
  const bool ends = range.greatest < no_end;
  if (range.open_below)
    return ends ? fmt::format("{} above {}, to {}", kind, plain(range.least), plain(range.greatest))
                : fmt::format("{} above {}", kind, plain(range.least));
  if (!ends) return fmt::format("{} from {}", kind, plain(range.least));
  return fmt::format("{} from {} to {}{}", kind, plain(range.least), range.open_above ? "below " : "",
                     plain(range.greatest));
}

/// The values that a key accepts.
std::string accepted_words(const Key& key, const Field& field) {
  if (const std::vector<std::string> words = choices(key.path()); !words.empty())
    return fmt::format("{}", fmt::join(words, ", "));
  if (std::holds_alternative<bool*>(field) || std::holds_alternative<std::optional<bool>*>(field)) return "true, false";
  if (std::holds_alternative<std::string*>(field)) return "text";
  const bool whole = std::holds_alternative<int*>(field) || std::holds_alternative<std::uint64_t*>(field) ||
                     std::holds_alternative<std::optional<int>*>(field);
  return range_words(key.range, whole);
}

/// As in a file; "none" without quotes for a figure that has no default.
std::string value_in_file(const Field& field) {
  const bool is_text = std::holds_alternative<std::string*>(field) || std::holds_alternative<AnyChoice*>(field);
  if (is_text) return fmt::format("\"{}\"", written(field));
  return given(field) ? written(field) : "none";
}

/// `named`: a table, or a key as it is typed after --set; empty for all.
int print_keys(const std::string& named) {
  const std::vector<std::string_view> tables = scenario_tables();
  const bool is_key = !named.empty() && !contains(tables, named);
  std::string path;
  if (is_key) {
    try {
      path = full_key(named, "");
    } catch (const ScenarioError&) {
      throw ScenarioError(
          fmt::format("'{}' is no table or key of a scenario file; the tables are {}", named, fmt::join(tables, ", ")));
    }
  }
  Scenario defaults = parse_scenario("", "the defaults");  // with the figures of the default cluster's file
  std::string_view last;
  for (const Key& key : scenario_keys()) {
    if (is_key ? key.path() != path : !named.empty() && key.table != named) continue;
    if (key.table != last && !key.table.empty())
      std::cout << fmt::format("{}[{}]\n", last.empty() ? "" : "\n", key.table);
    last = key.table;
    const Field field = key.field(defaults);
    std::cout << fmt::format("{} = {}\n    {}\n    {}\n", key.name, value_in_file(field), key.meaning,
                             accepted_words(key, field));
  }
  return 0;
}

}  // namespace

Command keys(CLI::App& app) {
  const auto named = std::make_shared<std::string>();
  auto* line =
      app.add_subcommand("keys", "list the keys of a scenario file with their defaults, meanings and accepted values");
  line->add_option("name", *named, "only this table or key, for example plan, or plan.zero");
  return {line, [named] { return print_keys(*named); }};
}

}  // namespace rankscope::command
