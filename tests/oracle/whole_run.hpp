// A small model's training with everything that another program needs to repeat it: initial weights, every step's
// tokens and targets; and the results: losses, the first step's gradients, the weights at the end.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"
#include "kernels/tensor/view.hpp"

namespace rankscope::oracle {

struct HeldTensor {
  DType type;
  Shape shape;
  std::vector<std::byte> bytes;
  View view() const { return {const_cast<std::byte*>(bytes.data()), type, shape}; }
};

struct WholeRun {
  /// "tokens", "targets", "losses", and for each parameter "initial.…", "gradient.…" and "final.…".
  std::map<std::string, HeldTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Trains to the scenario's end. The plan must not use ZeRO or tensor parallelism, so that ranks hold complete tensors.
WholeRun whole_run(const Scenario& scenario);

}  // namespace rankscope::oracle
