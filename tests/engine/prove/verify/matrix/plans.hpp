// The options of a plan, and the scenarios that a covering array makes of them: small models, up to 16 ranks.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"
#include "tests/engine/prove/verify/matrix/covering_array.hpp"

namespace rankscope::testing {

struct PlanOption {
  std::string name;
  std::vector<std::string> values;
  std::function<void(Scenario&, const std::string&)> set;
};

const std::vector<PlanOption>& plan_options();
Scenario scenario_of(const Row& row);
/// "data=2 pipeline=4 …"
std::string describe(const Row& row);
/// "zero=1 offload=none"
std::string describe(const Pair& pair);
/// The pairs in impossible.txt, described as above, with the reason of each.
std::map<std::string, std::string> impossible_pairs();
/// The matrix: every possible pair of values; in a long run of the tests also many triples.
const CoveringArray& plan_matrix();

}  // namespace rankscope::testing
