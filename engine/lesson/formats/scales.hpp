// What a scale saves: four tensors, stated here and drawn by a formula, are held in a format without a scale, with one
// for all (as a loss scale), with one for each tensor (as fp8 recipes; int8 "absmax"), and with one for each block of
// 32 numbers (as the MX formats, whose scales are powers of two). Nothing is measured: recordings count gradients of
// all tensors together.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/lesson/formats/format.hpp"

namespace rankscope {

struct StatedTensor {
  std::string_view name{}, words{};  ///< what its numbers are
  std::vector<double> values{};
};
inline constexpr int stated_elements = 4096;
/// The same in every program: normal numbers of Philox with seed 1, times powers of two.
std::vector<StatedTensor> stated_tensors();

enum class Scaling : std::uint8_t { none, one, per_tensor, per_block };
inline constexpr std::array every_scaling{Scaling::none, Scaling::one, Scaling::per_tensor, Scaling::per_block};
inline constexpr int block_elements = 32;

/// What is lost of all tensors together. A scale maps the largest magnitude of its numbers to the format's largest.
struct ScaleLoss {
  double zeroed = 0;        ///< share of the numbers that are not zero, and become zero
  double beyond = 0;        ///< share that becomes infinite or NaN, or is cut to int8's ends
  double error = 0;         ///< of the tensor that loses most: length of the error over the tensor's length
  std::size_t worst = 0;    ///< which that is
  std::int64_t scales = 0;  ///< that must be kept
};
ScaleLoss loss_of(NumberFormat format, Scaling scaling, std::span<const StatedTensor> tensors);

}  // namespace rankscope
