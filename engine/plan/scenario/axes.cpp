#include "engine/plan/scenario/axes.hpp"

#include <algorithm>
#include <set>

#include "engine/op/contains.hpp"
#include "engine/plan/scenario/choices.hpp"
#include "engine/plan/scenario/document.hpp"

namespace rankscope {
namespace {

using document::trimmed;

[[noreturn]] void refuse_axis(const std::string& text, const std::string& what) {
  throw ScenarioError("--over " + text + ": " + what);
}

/// At commas outside of double quotes.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

}  // namespace

Axis parse_axis(const std::string& text) {
  constexpr const char* right = "write key=value,value,…, such as plan.data=1,2,4";
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) refuse_axis(text, std::string("there is no '='; ") + right);
  const std::string key = trimmed(text.substr(0, equals)), list = trimmed(text.substr(equals + 1));
  if (key.empty()) refuse_axis(text, std::string("there is no key; ") + right);
  Axis axis{full_key(key, "--over " + text), {}};
  if (list.empty()) refuse_axis(text, "there are no values for " + axis.key + "; " + right);
  Scenario scratch;
  for (const std::string& value : split(list)) {
    if (value.empty()) refuse_axis(text, std::string("there is an empty value between commas; ") + right);
    if (contains(axis.values, value))
      refuse_axis(text,
                  "the value " + value + " is given twice; once is enough (--repeat N runs each N times)");
    // An unknown name is also a point: the plan's checks report it.
    if (choices(axis.key).empty()) set_value(scratch, {axis.key, value}, "--over " + text);
    axis.values.push_back(value);
  }
  return axis;
}

std::vector<Axis> parse_axes(const std::vector<std::string>& texts) {
  std::vector<Axis> axes;
  std::set<std::string> seen;
  for (const std::string& text : texts) {
    axes.push_back(parse_axis(text));
    if (!seen.insert(axes.back().key).second)
      refuse_axis(text, axes.back().key + " is swept twice; put all its values into one list");
  }
  return axes;
}

std::vector<std::vector<Override>> combinations(const std::vector<Axis>& axes) {
  std::vector<std::vector<Override>> points(1);
  for (const Axis& axis : axes) {
    std::vector<std::vector<Override>> longer;
    for (const std::vector<Override>& point : points)
      for (const std::string& value : axis.values) {
        longer.push_back(point);
        longer.back().push_back({axis.key, value});
      }
    points = std::move(longer);
  }
  return points;
}

}  // namespace rankscope
