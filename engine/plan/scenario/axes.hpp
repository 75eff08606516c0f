// The axes of a sweep: keys of a scenario with several values, as typed after --over.
#pragma once
#include <string>
#include <vector>

#include "engine/plan/scenario/read.hpp"

namespace rankscope {

struct Axis {
  std::string key;                  ///< "plan.data"
  std::vector<std::string> values;  ///< as typed
  bool operator==(const Axis&) const = default;
};

/// "plan.data=1,2,4", or "data=1,2,4" if only one table has that key; a value with a comma is in quotes.
/// Throws ScenarioError, one line that begins with "--over " and the text: no key of that name, no value, a value of
/// the wrong type, one value twice. Values of the right type are not checked further (a plan's own checks do that).
Axis parse_axis(const std::string& text);
/// One of each; throws ScenarioError if two have the same key.
std::vector<Axis> parse_axes(const std::vector<std::string>& texts);

/// All combinations of the axes' values, the last axis changing first: {a=1 b=1, a=1 b=2, a=2 b=1, …}.
std::vector<std::vector<Override>> combinations(const std::vector<Axis>& axes);

}  // namespace rankscope
