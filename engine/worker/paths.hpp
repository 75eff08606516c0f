// `rankscope-engine paths`: optimizer paths on a surface of two parameters. Nothing is trained.
#pragma once
#include <string>
#include <vector>

#include "engine/lesson/descent/path.hpp"

namespace rankscope {

/// The command's input, as typed; empty: the surface's value.
struct PathsInput {
  std::string surface = "ravine", start;       ///< start: "X,Y"
  std::vector<std::string> optimizers, rates;  ///< "adam", or "adam=0.1"; a rate without a name applies to all
  std::vector<std::string> set;                ///< "momentum=0.5", as in [train]
  double condition = usual_condition, noise = 0;
  int steps = 0;
  std::uint64_t seed = 1;
  bool json = false;
};

/// Converts the typed text to a request. Throws ScenarioError in one line with the correction.
PathRequest path_request(const PathsInput& input);
/// Computes the paths. Throws ScenarioError.
Paths walk_paths(PathRequest request);
/// Both, and prints; returns the exit status.
int print_paths(const PathsInput& input);

}  // namespace rankscope
