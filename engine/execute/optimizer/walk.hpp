// Optimizers on surfaces of two parameters (engine/lesson/descent): the same rules, bound and launched as training
// does, on a tensor of two elements.
#pragma once
#include "engine/lesson/descent/path.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "kernels/kernel_set.hpp"

namespace rankscope {

/// `train` gives optimizer, rate and its schedule, hyper-parameters and steps. In fp64. Weights decay where
/// `train.hyper` says so and not by the optimizer's default, as a vector's do not in training: on a surface a decay
/// moves the minimum. Adam's moments are kept in 8 bits (adam8bit) as those of a large tensor; where a gradient of step
/// t gets noise it is elements 2t and 2t + 1 of the generator's stream, whatever the optimizer.
/// Throws std::invalid_argument for an optimizer that is not known, kernels::Unsupported where the set lacks its
/// update.
OptimizerPath walk(const Surface& surface, Point start, const TrainSpec& train, double noise, std::uint64_t seed,
                   const kernels::KernelSet& kernels);

/// Bytes of states that training keeps of each parameter of a large fp32 matrix.
double state_bytes_per_parameter(std::string_view optimizer);

}  // namespace rankscope
