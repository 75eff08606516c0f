// The advice of a refusal, parsed as a user reads it: "…; heads = 4 or 8 would do, or width = 48", "use zero = 0",
// "remove momentum".
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tests/whole/plans/drawn_plan.hpp"

namespace rankscope::test {

/// A refusal's line on standard error: FILE:LINE:COLUMN: WHAT.
struct Refusal {
  int line = 0;
  std::string key;  ///< the key in that line; empty if there is none
  std::string what;
};
/// nullopt if it does not have that form.
std::optional<Refusal> read_refusal(const std::string& text, const std::string& file, const DrawnPlan& plan);

struct Change {
  std::string path, value;  ///< in TOML's form; empty: the key is removed
  /// From the list of all values or an example of the type, whatever the plan: it may need another value, or another
  /// key as well.
  bool of_list = false;
};
/// Changes that are to be made together.
using Advice = std::vector<Change>;
/// All advice of the refusal, in its order.
std::vector<Advice> advice_in(const Refusal& refusal);

std::string to_text(const Advice& advice);

}  // namespace rankscope::test
