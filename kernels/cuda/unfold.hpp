// Passes of kernels/unfolded_convolution.hpp on a GPU. Internal to kernels/cuda.
#pragma once
#include "kernels/unfolded_convolution.hpp"

namespace rankscope::kernels::cuda {

Prepared<View, View> unfold(const ConvolutionSpec& spec, const Options& options);  ///< columns; x
Prepared<View, View> fold(const ConvolutionSpec& spec, const Options& options);    ///< dx; columns (fp32; fp64)

/// Columns at a time that keep a GPU busy.
inline constexpr UnfoldPasses unfold_passes{unfold, fold, std::int64_t{256} << 20};

}  // namespace rankscope::kernels::cuda
