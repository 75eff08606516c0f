// Specifications of the additional ops of convolutional networks (part of kernels/kernel_set.hpp): convolutions, batch
// norm and pools. All images are NHWC: [samples, height, width, channels], row-major, so that a pixel's channels are
// contiguous, as rows of [samples·height·width, channels].
#pragma once
#include <cstdint>

#include "kernels/tensor/type.hpp"

namespace rankscope::kernels {

/// Positions of a window of `kernel` along an axis of `size` with `padding` on either side, `stride` apart.
constexpr std::int64_t window_places(std::int64_t size, int kernel, int stride, int padding) {
  return (size + 2 * padding - kernel) / stride + 1;
}

/// y = x∗w and its gradients, without bias: y[s, i, j, o] = Σ x[s, i·stride + a - padding, j·stride + b - padding, c]·
/// w[o, a, b, c] over a, b < kernel and c < in, where x is zero outside. x [samples, height, width, in], w [out,
/// kernel, kernel, in], y [samples, out_height(), out_width(), out].
struct ConvolutionSpec {
  DType type = DType::f32;  ///< of x, w, y, dx and dy; dw is fp32 (fp64 of fp64)
  std::int64_t samples = 0, height = 0, width = 0, in = 0, out = 0;
  int kernel = 1, stride = 1, padding = 0;
  bool accumulate = false;  ///< gradients: added to the stored values, instead of written

  std::int64_t out_height() const { return window_places(height, kernel, stride, padding); }
  std::int64_t out_width() const { return window_places(width, kernel, stride, padding); }
};

/// Batch norm over the rows of x [rows, channels] (Ioffe and Szegedy 2015), with the ops after it: y = relu(weight·(x -
/// mean)·rstd + bias + residual), rstd = 1/√(variance + epsilon). Statistics are those of these rows, their variance
/// biased (over `rows`), in fp32 (fp64 for fp64); there are no running averages, which are for inference.
struct BatchNormSpec {
  DType type = DType::f32;
  std::int64_t rows = 0, channels = 0;
  double epsilon = 1e-5;
  bool residual = false;           ///< forward: it is added; backward: its gradient is written
  bool relu = false;               ///< else y is not clamped at zero
  bool accumulate_weight = false;  ///< backward: dweight is added to, not written
  bool accumulate_bias = false;
};

/// Maximum of each window of x [samples, height, width, channels]; y [samples, out_height(), out_width(), channels]. A
/// window must contain a pixel of x: padding is at most kernel / 2.
struct PoolSpec {
  DType type = DType::f32;
  std::int64_t samples = 0, height = 0, width = 0, channels = 0;
  int kernel = 1, stride = 1, padding = 0;

  std::int64_t out_height() const { return window_places(height, kernel, stride, padding); }
  std::int64_t out_width() const { return window_places(width, kernel, stride, padding); }
};

/// Mean over the positions of x [samples, positions, channels], which are all pixels of a sample; y [samples,
/// channels].
struct MeanPoolSpec {
  DType type = DType::f32;
  std::int64_t samples = 0, positions = 0, channels = 0;
};

}  // namespace rankscope::kernels
