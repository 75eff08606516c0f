// What a refusal advises, read as a person would: "…; heads = 4 or 8 would do, or width = 48", "use zero = 0", "remove
// momentum".
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tests/whole/plans/drawn_plan.hpp"

namespace rankscope::test {

/// A refusal's line on standard error: FILE:LINE:COLUMN: WHAT.
struct Refusal {
  int line = 0;
  std::string key;  ///< that stands in the line; empty where none does
  std::string what;
};
/// nullopt where it is not of that form.
std::optional<Refusal> read_refusal(const std::string& text, const std::string& file, const DrawnPlan& plan);

struct Change {
  std::string path, value;  ///< as TOML writes it; empty: the key is removed
  /// Of all that there is, whatever the plan: it may need another, or another key besides.
  bool of_list = false;
};
/// What is to be changed together.
using Advice = std::vector<Change>;
/// All that the refusal offers, in its order.
std::vector<Advice> advice_in(const Refusal& refusal);

std::string to_text(const Advice& advice);

}  // namespace rankscope::test
