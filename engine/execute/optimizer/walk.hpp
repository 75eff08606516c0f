// Optimizers on surfaces of two parameters (engine/lesson/descent): the same rules, bound and launched as in training,
// on a tensor of two elements.
#pragma once
#include "engine/lesson/descent/path.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "kernels/kernel_set.hpp"

namespace rankscope {

/// `train` contains optimizer, rate and its schedule, hyper-parameters and steps. In fp64. Weights decay only if
/// `train.hyper` sets it, not by the optimizer's default (like vectors in training): on a surface a decay moves the
/// minimum. Adam's moments are stored in 8 bits (adam8bit) like those of a large tensor; the noise of step t's gradient
/// is elements 2t and 2t + 1 of the generator's stream, for every optimizer.
/// Throws std::invalid_argument for an unknown optimizer, kernels::Unsupported if the set lacks its update.
OptimizerPath walk(const Surface& surface, Point start, const TrainSpec& train, double noise, std::uint64_t seed,
                   const kernels::KernelSet& kernels);

/// Bytes of states that training stores per parameter of a large fp32 matrix.
double state_bytes_per_parameter(std::string_view optimizer);

}  // namespace rankscope
