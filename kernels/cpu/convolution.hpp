// Ways to compute a convolution on the CPU. Internal to kernels/cpu; convolution.cpp chooses.
#pragma once
#include <optional>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cpu {

enum class ConvolutionPass : std::uint8_t { forward, input_gradient, weight_gradient };

/// By oneDNN's own convolution in fp32 and bf16, with its arguments in the op's order; none if oneDNN has only its
/// reference loops. Weights are converted to its blocked layout, and their gradient from it, at every launch.
std::optional<Prepared<View, View, View>> onednn_convolution(const ConvolutionSpec& spec, ConvolutionPass pass,
                                                             const Options& options);

// Passes of kernels/unfolded_convolution.hpp.
Prepared<View, View> unfold(const ConvolutionSpec& spec, const Options& options);  ///< columns; x
Prepared<View, View> fold(const ConvolutionSpec& spec, const Options& options);    ///< dx; columns (fp32; fp64)

}  // namespace rankscope::kernels::cpu
