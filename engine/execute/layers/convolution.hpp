// Shared by the segments of a residual network (engine/plan/model/resnet_rows.hpp). Internal to engine/execute/layers.
#pragma once
#include "engine/execute/layers/layers.hpp"

namespace rankscope {

/// The convolution from images `x` to images `y`, both [samples, side, side, channels], with `w` [out, kernel, kernel,
/// in]: it keeps their size, or halves it.
inline kernels::ConvolutionSpec convolution_between(const View& x, const View& w, const View& y) {
  kernels::ConvolutionSpec spec{.type = x.type,
                                .samples = x.shape[0],
                                .height = x.shape[1],
                                .width = x.shape[2],
                                .in = x.shape[3],
                                .out = w.shape[0],
                                .kernel = static_cast<int>(w.shape[1]),
                                .padding = static_cast<int>(w.shape[1]) / 2};
  spec.stride = spec.out_height() == y.shape[1] ? 1 : 2;
  return spec;
}

/// The batch norm of images `x`: every pixel of every sample is a row.
inline kernels::BatchNormSpec batch_norm_of(const View& x) {
  const std::int64_t channels = x.shape[3];
  return {.type = x.type, .rows = x.elements() / channels, .channels = channels, .relu = true};
}

/// A batch norm's parameters, statistics and gradients as a segment's operands.
struct BatchNormViews {
  View x, mean, rstd, weight, bias, dweight, dbias;
};

}  // namespace rankscope
