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

std::string to_toml(const MeasuredTable& table);

}  // namespace rankscope
