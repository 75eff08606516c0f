// Optimizers: which states a parameter needs, and the bound launches of the norm and of the update.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/layers/bind.hpp"
#include "engine/scenario/scenario.hpp"
#include "kernels/kernel_set.hpp"
#include "kernels/tensor/view.hpp"

namespace rankscope {

/// A buffer that the optimizer keeps beside a parameter, of the parameter's shape.
struct StateSpec {
  enum class Role : std::uint8_t { master, m, v };
  Role role;
  std::string name;  ///< "master", "m", "v"
  DType type;
};

/// The states of one parameter of `parameter_type`, in this order: master (fp32; only of bf16 and fp16 parameters),
/// then m and v for "adamw". fp64 for fp64, else fp32. Bytes per parameter in bf16 with AdamW: 2 + 4 gradient + 12
/// = 18. Throws std::invalid_argument for an optimizer that is not known.
std::vector<StateSpec> optimizer_states(const TrainSpec& train, DType parameter_type);

/// The learning rate of a step, counted from 0.
struct LearningRate {
  double base = 0;
  explicit LearningRate(const TrainSpec& train) : base(train.learning_rate) {}
  double at(std::uint64_t /*step*/) const { return base; }
};

/// min(1, clip / (sqrt(square_norm) + 1e-6)), and 1 when clip is 0: what gradients are multiplied by.
double clip_coefficient(double square_norm, double clip);

/// *out = sum over all `gradients` of their squares, accumulated in fp64.
Launch bind_square_norm(std::span<const View> gradients, double* out, const kernels::KernelSet& kernels,
                        Workspace& workspace);

/// One parameter with all that its update reads and writes; views of states it does not have are empty.
struct UpdateOperands {
  View parameter, gradient;
  View master{}, m{}, v{};
  bool decay = false;  ///< ParameterSpec::decay
};

/// The update of all `parameters`. Adam's t is the launch's step + 1. `clip_coefficient` may be null (1); it is read at
/// launch. Weight decay is decoupled: p -= rate·weight_decay·p. Throws std::invalid_argument when an operand is
/// missing.
Launch bind_update(const TrainSpec& train, std::span<const UpdateOperands> parameters, const double* clip_coefficient,
                   const kernels::KernelSet& kernels, Workspace& workspace);

}  // namespace rankscope
