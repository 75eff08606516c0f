// What makes a scenario one that can run: the rules between its values, each with the keys it concerns.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Why a scenario is refused.
struct Complaint {
  std::vector<std::string> keys;  ///< "table.name", the likeliest culprit first
  std::string what;               ///< "what is wrong; what would be right"
};

/// About a name that the set of a key ("plan.schedule") does not have.
Complaint unknown_name(const std::string& key, const std::string& name);
/// A number's or a name's own limits: the key's range, and the values that there are.
std::optional<Complaint> complaint_about_values(const Scenario& scenario);
/// Rules between values: what divides what.
std::optional<Complaint> complaint_about_plan(const Scenario& scenario);
/// What must lie on this machine: the text.
std::optional<Complaint> complaint_about_files(const Scenario& scenario);

/// The first complaint of all three, in this order.
std::optional<Complaint> first_complaint(const Scenario& scenario);

}  // namespace rankscope
