// `rankscope-engine paths`: optimizer paths on a surface of two parameters. Nothing is trained.
#pragma once
#include <string>
#include <vector>

#include "engine/lesson/descent/path.hpp"

namespace rankscope {

/// What the command is given, as it is typed; empty: as the surface has it.
struct PathsInput {
  std::string surface = "ravine", start;       ///< start: "X,Y"
  std::vector<std::string> optimizers, rates;  ///< "adam", or "adam=0.1"; of rates a number alone counts for all
  std::vector<std::string> set;                ///< "momentum=0.5", as [train] has it
  double condition = usual_condition, noise = 0;
  int steps = 0;
  std::uint64_t seed = 1;
  bool json = false;
};

/// The request behind what was typed. Throws ScenarioError in a line that says what would be right.
PathRequest path_request(const PathsInput& input);
/// Computes the paths. Throws ScenarioError.
Paths walk_paths(PathRequest request);
/// Both, and prints; the exit status.
int print_paths(const PathsInput& input);

}  // namespace rankscope
