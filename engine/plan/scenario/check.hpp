// Rules that a scenario must satisfy to run, each with the keys that it concerns.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Why a scenario is rejected.
struct Complaint {
  std::vector<std::string> keys;  ///< "table.name", the most likely cause first
  std::string what;               ///< "error; correction"
};

/// For an unknown name of a key ("plan.schedule").
Complaint unknown_name(const std::string& key, const std::string& name);
/// "root is 8, and ranks are numbered 0 to 7; give a smaller one, such as root = 7": for a number from `count` on.
std::string out_of_range(const std::string& key, std::int64_t value, const std::string& what, std::int64_t count);
/// Limits of a single number or name: the key's range, and the existing values.
std::optional<Complaint> complaint_about_values(const Scenario& scenario);
/// Rules between values, such as divisibility.
std::optional<Complaint> complaint_about_plan(const Scenario& scenario);

/// The first complaint of all three, in this order.
std::optional<Complaint> first_complaint(const Scenario& scenario);

}  // namespace rankscope
