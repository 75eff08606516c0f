// What a scale saves: four tensors, defined here by a formula, are stored in a format without a scale, with one for all
// (like a loss scale), with one for each tensor (like fp8 recipes; int8 "absmax"), and with one for each block of 32
// numbers (like the MX formats, whose scales are powers of two). Nothing is measured: recordings count gradients of all
// tensors together.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/lesson/formats/format.hpp"

namespace rankscope {

struct StatedTensor {
  std::string_view name{}, words{};  ///< description of its numbers
  std::vector<double> values{};
};
inline constexpr int stated_elements = 4096;
/// Identical in every program: normal numbers of Philox with seed 1, times powers of two.
std::vector<StatedTensor> stated_tensors();

enum class Scaling : std::uint8_t { none, one, per_tensor, per_block };
inline constexpr std::array every_scaling{Scaling::none, Scaling::one, Scaling::per_tensor, Scaling::per_block};
inline constexpr int block_elements = 32;

/// The loss over all tensors. A scale maps the largest magnitude of its numbers to the format's largest.
struct ScaleLoss {
  double zeroed = 0;        ///< share of the numbers that are not zero, but become zero
  double beyond = 0;        ///< share that becomes infinite or NaN, or saturates in int8
  double error = 0;         ///< of the tensor with the largest loss: norm of the error over the tensor's norm
  std::size_t worst = 0;    ///< index of that tensor
  std::int64_t scales = 0;  ///< that must be stored
};
ScaleLoss loss_of(NumberFormat format, Scaling scaling, std::span<const StatedTensor> tensors);

}  // namespace rankscope
