// Batch norm: y = relu((x - mean)·rstd·weight + bias + residual), statistics of each channel over all rows. Sums over
// rows are computed strip by strip, a vector of channels at a time; elementwise work row by row.
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

/// Two passes over a strip of few rows, which fits the first-level cache: the variance has no cancellation.
template <class T>
void channel_statistics(void* means_, void* squares_, const void* x_, int64_t rows, int64_t channels) {
  using A = Scalar<T>;
  auto* means = static_cast<A*>(means_);
  auto* squares = static_cast<A*>(squares_);
  const auto* x = static_cast<const T*>(x_);
  sweep<T>(channels, [&](int64_t j, auto part) {
    Vector<T> sum = {}, square_sum = {};
    for (int64_t r = 0; r < rows; ++r) sum += load(x + r * channels + j, part);
    const Vector<T> mean = sum / static_cast<A>(rows);
    for (int64_t r = 0; r < rows; ++r) {
      const Vector<T> d = load(x + r * channels + j, part) - mean;
      square_sum += d * d;
    }
    store(means + j, mean, part);
    store(squares + j, square_sum, part);
  });
}

/// Chan, Golub and LeVeque 1983: the sum of squared differences from the overall mean is that from the blocks' own
/// means plus rows·(block's mean - mean)². In fp64: thousands of blocks are added up.
template <class T>
void combine_statistics(void* mean_, void* rstd_, const void* means_, const void* squares_, const BatchShape& shape,
                        int64_t first, int64_t last) {
  using A = Scalar<T>;
  constexpr int64_t strip = 16;
  const auto* means = static_cast<const A*>(means_);
  const auto* squares = static_cast<const A*>(squares_);
  const int64_t blocks = (shape.rows + shape.rows_per_block - 1) / shape.rows_per_block;
  const auto rows_of = [&](int64_t b) {
    const int64_t left = shape.rows - b * shape.rows_per_block;
    return static_cast<double>(left < shape.rows_per_block ? left : shape.rows_per_block);
  };
  for (int64_t j = first; j < last; j += strip) {
    const int64_t n = last - j < strip ? last - j : strip;
    double mean[strip] = {}, sum[strip] = {};
    for (int64_t b = 0; b < blocks; ++b) {
      const double rows = rows_of(b);
      for (int64_t k = 0; k < n; ++k) mean[k] += rows * static_cast<double>(means[b * shape.channels + j + k]);
    }
    for (int64_t k = 0; k < n; ++k) mean[k] /= static_cast<double>(shape.rows);
    for (int64_t b = 0; b < blocks; ++b) {
      const double rows = rows_of(b);
      for (int64_t k = 0; k < n; ++k) {
        const double d = static_cast<double>(means[b * shape.channels + j + k]) - mean[k];
        sum[k] += static_cast<double>(squares[b * shape.channels + j + k]) + rows * d * d;
      }
    }
    for (int64_t k = 0; k < n; ++k) {
      static_cast<A*>(mean_)[j + k] = static_cast<A>(mean[k]);
      static_cast<A*>(rstd_)[j + k] =
          static_cast<A>(1 / __builtin_sqrt(sum[k] / static_cast<double>(shape.rows) + shape.epsilon));
    }
  }
}

template <class T, bool relu>
RANKSCOPE_INLINE void normalise(T* y, const T* x, const BatchOperands& operands, const T* bias, const T* residual,
                                int64_t rows, int64_t channels) {
  using A = Scalar<T>;
  const auto* mean = static_cast<const A*>(operands.mean);
  const auto* rstd = static_cast<const A*>(operands.rstd);
  const auto* weight = static_cast<const T*>(operands.weight);
  const Vector<T> zero = {};
  for (int64_t r = 0; r < rows; ++r, y += channels, x += channels) {
    sweep<T>(channels, [&](int64_t j, auto part) {
      Vector<T> v = (load(x + j, part) - load(mean + j, part)) * (load(rstd + j, part) * load(weight + j, part)) +
                    load(bias + j, part);
      if (residual) v += load(residual + j, part);
      if constexpr (relu) v = v < zero ? zero : v;  // a NaN stays NaN
      store(y + j, v, part);
    });
    if (residual) residual += channels;
  }
}

template <class T>
void batch_norm_forward(void* y, const void* x, const BatchOperands& operands, const void* bias, const void* residual,
                        int64_t rows, int64_t channels, bool relu) {
  (relu ? normalise<T, true> : normalise<T, false>)(static_cast<T*>(y), static_cast<const T*>(x), operands,
                                                    static_cast<const T*>(bias), static_cast<const T*>(residual), rows,
                                                    channels);
}

/// dy where ReLU was active.
template <class T>
RANKSCOPE_INLINE Vector<T> opened(const T* dy, const T* y, int64_t i, auto part) {
  const Vector<T> d = load(dy + i, part), zero = {};
  if (y == nullptr) return d;
  return load(y + i, part) == zero ? zero : d;
}

template <class T>
void batch_norm_sums(void* dweight_, void* dbias_, const void* dy_, const void* y_, const void* x_,
                     const BatchOperands& operands, int64_t rows, int64_t channels) {
  using A = Scalar<T>;
  const auto* dy = static_cast<const T*>(dy_);
  const auto* y = static_cast<const T*>(y_);
  const auto* x = static_cast<const T*>(x_);
  sweep<T>(channels, [&](int64_t j, auto part) {
    const Vector<T> mean = load(static_cast<const A*>(operands.mean) + j, part);
    Vector<T> weights = {}, biases = {};
    for (int64_t r = 0; r < rows; ++r) {
      const Vector<T> g = opened(dy, y, r * channels + j, part);
      weights += g * (load(x + r * channels + j, part) - mean);
      biases += g;
    }
    store(static_cast<A*>(dweight_) + j, weights * load(static_cast<const A*>(operands.rstd) + j, part), part);
    store(static_cast<A*>(dbias_) + j, biases, part);
  });
}

/// With n = (x - mean)·rstd and g = dy where ReLU was active: dx = weight·rstd·(g - mean(g) - n·mean(g·n)).
template <class T>
void batch_norm_backward(void* dx_, void* dresidual_, const void* dy_, const void* y_, const void* x_,
                         const BatchOperands& operands, const void* dweight_, const void* dbias_, int64_t total,
                         int64_t rows, int64_t channels) {
  using A = Scalar<T>;
  auto* dx = static_cast<T*>(dx_);
  auto* dresidual = static_cast<T*>(dresidual_);
  const auto* dy = static_cast<const T*>(dy_);
  const auto* y = static_cast<const T*>(y_);
  const auto* x = static_cast<const T*>(x_);
  const auto* mean = static_cast<const A*>(operands.mean);
  const auto* rstd = static_cast<const A*>(operands.rstd);
  const auto* weight = static_cast<const T*>(operands.weight);
  const auto* dweight = static_cast<const A*>(dweight_);
  const auto* dbias = static_cast<const A*>(dbias_);
  const A share = A(1) / static_cast<A>(total);
  for (int64_t r = 0; r < rows; ++r)
    sweep<T>(channels, [&](int64_t j, auto part) {
      const int64_t i = r * channels + j;
      const Vector<T> s = load(rstd + j, part), g = opened(dy, y, i, part);
      const Vector<T> n = (load(x + i, part) - load(mean + j, part)) * s;
      const Vector<T> centred = g - (load(dbias + j, part) + n * load(dweight + j, part)) * share;
      store(dx + i, centred * (s * load(weight + j, part)), part);
      if (dresidual) store(dresidual + i, g, part);
    });
}

}  // namespace

template <class T>
void add_batch_norm(Loops& loops) {
  loops.channel_statistics = channel_statistics<T>;
  loops.combine_statistics = combine_statistics<T>;
  loops.batch_norm_forward = batch_norm_forward<T>;
  loops.batch_norm_sums = batch_norm_sums<T>;
  loops.batch_norm_backward = batch_norm_backward<T>;
}
RANKSCOPE_FOR_ALL_TYPES(add_batch_norm)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
