// A replay of asynchronous training without servers and messages: the gradients of workers computed one after
// the other by a data-parallel plan's ranks that exchange nothing, and applied to each server's part of the parameters
// in the order in which that server served them. For this folder's own files.
#pragma once
#include <map>
#include <vector>

#include "engine/execute/run/job.hpp"
#include "engine/prove/verify/parity.hpp"

namespace rankscope {

/// A worker's gradients of a step.
struct Contribution {
  int worker = 0;
  std::uint32_t step = 0;
  auto operator<=>(const Contribution&) const = default;
};

/// Complete tensors by the parameter's index.
using WholeValues = std::map<int, parity::Values>;

struct Replay {
  std::map<Contribution, WholeValues> gradients;
  std::map<Contribution, double> losses;
  WholeValues before, after;                  ///< on the servers; 16-bit parameters' masters
  WholeValues rounded_before, rounded_after;  ///< 16-bit parameters themselves
  std::vector<WholeValues> pulled;            ///< [worker]: its parameters at the end
};

/// `served[s]` is server s's order, of `steps` steps of each worker. Throws std::invalid_argument if nothing can be
/// served in such orders. `twin`: 0, or a twin's number (parity::change_roundings).
Replay replay(const StepProgram& step, const std::vector<std::vector<Contribution>>& served,
              const RunSettings& settings, int twin = 0);

}  // namespace rankscope
