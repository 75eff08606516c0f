// Running optimizers: the bound launches of the norm and of the update. The list of optimizers, their states and their
// rules are in engine/plan/optimizer_rule.
#pragma once
#include <span>
#include <vector>

#include "engine/execute/layers/bind.hpp"
#include "engine/execute/optimizer/learning_rate.hpp"
#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "kernels/kernel_set.hpp"
#include "kernels/tensor/view.hpp"

namespace rankscope {

/// *out = sum over all `gradients` of their squares, accumulated in fp64. `out` is in the memory of the set's device.
Launch bind_square_norm(std::span<const View> gradients, double* out, const kernels::KernelSet& kernels,
                        Workspace& workspace);

/// Adds to `counts`, [magnitude_bins] in the memory of the set's device, the number of elements of all `gradients` of
/// each magnitude (kernels/tensor/magnitude.hpp).
std::function<void(double* counts)> bind_count_magnitudes(std::span<const View> gradients,
                                                          const kernels::KernelSet& kernels, Workspace& workspace);

/// One parameter with everything that its update reads and writes.
struct UpdateOperands {
  View parameter, gradient;
  std::vector<View> states{};        ///< in the order of states_of(): the master first
  bool decay = false;                ///< ParameterSpec::decay
  std::int64_t tensor_elements = 0;  ///< UpdateTarget::tensor_elements; 0: the parameter is the complete tensor
};

/// The update of all `parameters`. t is the launch's update + 1. `clip_coefficient` may be null (1); it is in the
/// memory of the set's device and is read when the update runs. Throws std::invalid_argument if an operand is missing
/// or does not fit.
Launch bind_update(const TrainSpec& train, std::span<const UpdateOperands> parameters, const double* clip_coefficient,
                   const kernels::KernelSet& kernels, Workspace& workspace);

}  // namespace rankscope
