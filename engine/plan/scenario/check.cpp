#include "engine/plan/scenario/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>

#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/choices.hpp"
#include "engine/plan/scenario/data_source.hpp"
#include "engine/plan/scenario/keys.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/plan/scenario/usual_names.hpp"

namespace rankscope {
namespace {

std::string allowed(const Range& range) {
  std::string text = (range.open_below ? "greater than " : "at least ") + plain(range.least);
  if (range.greatest < 1e30) text += (range.open_above ? " and less than " : " and at most ") + plain(range.greatest);
  return text;
}

/// The value of a number; nullopt if the key is no number, or is not given.
std::optional<double> number(const Field& field) {
  if (const auto* i = std::get_if<int*>(&field)) return **i;
  if (const auto* d = std::get_if<double*>(&field)) return **d;
  if (const auto* u = std::get_if<std::uint64_t*>(&field)) return static_cast<double>(**u);
  if (const auto* i = std::get_if<std::optional<int>*>(&field); i && **i) return ***i;
  if (const auto* d = std::get_if<std::optional<double>*>(&field); d && **d) return ***d;
  return std::nullopt;
}

/// Files that must exist on this machine: the text.
std::optional<Complaint> complaint_about_files(const Scenario& scenario) {
  const std::string path = data_file(scenario);
  std::error_code error;
  if (path.empty() || std::filesystem::is_regular_file(path, error)) return std::nullopt;
  const bool there = std::filesystem::exists(path, error);
  return Complaint{
      {"data.source"},
      "the data file '" + path + "' is " + (there ? "no ordinary file" : "not there") +
          "; a path in a scenario is relative to the scenario's folder, and source = \"synthetic\" needs none"};
}

}  // namespace

Complaint unknown_name(const std::string& key, const std::string& name) {
  if (const std::string_view feature = absent_feature(name); !feature.empty())
    return {{key}, fmt::format("unknown {} '{}'; {}", key.substr(key.find('.') + 1), name, feature)};
  std::vector<std::string> known = choices(key);
  std::erase(known, "");
  std::string near(value_called(key, name));
  if (near.empty()) near = nearest(name, known);
  return {{key},
          "unknown " + key.substr(key.find('.') + 1) + " '" + name + "'; " +
              (near.empty() ? "" : "did you mean '" + near + "'? ") + "there is " + listed(known)};
}

std::string out_of_range(const std::string& key, std::int64_t value, const std::string& what, std::int64_t count) {
  return fmt::format("{0} is {1}, and {2} are numbered 0 to {3}; give a smaller one, such as {0} = {3}", key, value,
                     what, count - 1);
}

std::optional<Complaint> complaint_about_values(const Scenario& scenario) {
  Scenario copy = scenario;
  for (const Key& key : scenario_keys()) {
    const Field field = key.field(copy);
    if (const auto value = number(field); value && !(std::isfinite(*value) && key.range.holds(*value)))
      return Complaint{
          {key.path()},
          std::string(key.name) + " = " + written(field) + " is out of range; it must be " + allowed(key.range)};
    const auto* word = std::get_if<std::string*>(&field);
    if (!word) continue;
    const std::vector<std::string> known = choices(key.path());
    if (!known.empty() && !contains(known, **word)) return unknown_name(key.path(), **word);
  }
  if (!named_source(scenario.data))
    return Complaint{
        {"data.source"},
        "unknown source '" + scenario.data.source + "'; it is \"synthetic\", \"text:FILE\" or \"tokens:FILE\""};
  return std::nullopt;
}

std::optional<Complaint> first_complaint(const Scenario& scenario) {
  for (const auto check : {complaint_about_values, complaint_about_plan, complaint_about_files})
    if (auto complaint = check(scenario)) return complaint;
  return std::nullopt;
}

}  // namespace rankscope
