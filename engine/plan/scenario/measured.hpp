// Ops' times as measured on a device: scenarios/measured/NAME.toml.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// A machine and its measured ops.
struct MeasuredTable {
  std::string title;   ///< the machine
  std::string source;  ///< how it was measured, and when
  std::vector<MeasuredCost> rows;
};

/// Throws ScenarioError "file:line:column: …".
MeasuredTable read_measured(const std::filesystem::path& file);
/// The file of that name in a folder `measured` beside or above `scenario_file`, or in the resource folders; empty when
/// there is none.
std::filesystem::path find_measured(const std::string& name, const std::filesystem::path& scenario_file);

std::string to_toml(const MeasuredTable& table);

}  // namespace rankscope
