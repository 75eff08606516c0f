// Batch norm: y = relu((x - mean)·rstd·weight + bias + residual), statistics of each channel over all rows. Sums over
// rows are computed strip by strip, a vector of channels at a time; elementwise work row by row.
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

/// Two passes over a strip of few rows, which fits the first-level cache: the variance has no cancellation.
template <class T>
void channel_statistics(Scalar<T>* means, Scalar<T>* squares, const T* x, int64_t rows, int64_t channels) {
  using A = Scalar<T>;
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
void combine_statistics(Scalar<T>* mean, Scalar<T>* rstd, const Scalar<T>* means, const Scalar<T>* squares,
                        const BatchShape& shape, int64_t first, int64_t last) {
  using A = Scalar<T>;
  constexpr int64_t strip = 16;
  const int64_t blocks = (shape.rows + shape.rows_per_block - 1) / shape.rows_per_block;
  const auto rows_of = [&](int64_t b) {
    const int64_t left = shape.rows - b * shape.rows_per_block;
    return static_cast<double>(left < shape.rows_per_block ? left : shape.rows_per_block);
  };
  for (int64_t j = first; j < last; j += strip) {
    const int64_t n = last - j < strip ? last - j : strip;
    double centre[strip] = {}, sum[strip] = {};
    for (int64_t b = 0; b < blocks; ++b) {
      const double rows = rows_of(b);
      for (int64_t k = 0; k < n; ++k) centre[k] += rows * static_cast<double>(means[b * shape.channels + j + k]);
    }
    for (int64_t k = 0; k < n; ++k) centre[k] /= static_cast<double>(shape.rows);
    for (int64_t b = 0; b < blocks; ++b) {
      const double rows = rows_of(b);
      for (int64_t k = 0; k < n; ++k) {
        const double d = static_cast<double>(means[b * shape.channels + j + k]) - centre[k];
        sum[k] += static_cast<double>(squares[b * shape.channels + j + k]) + rows * d * d;
      }
    }
    for (int64_t k = 0; k < n; ++k) {
      mean[j + k] = static_cast<A>(centre[k]);
      rstd[j + k] = static_cast<A>(1 / __builtin_sqrt(sum[k] / static_cast<double>(shape.rows) + shape.epsilon));
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
void batch_norm_forward(T* y, const T* x, const BatchOperands& operands, const T* bias, const T* residual, int64_t rows,
                        int64_t channels, bool relu) {
  (relu ? normalise<T, true> : normalise<T, false>)(y, x, operands, bias, residual, rows, channels);
}

/// dy where ReLU was active.
template <class T>
RANKSCOPE_INLINE Vector<T> opened(const T* dy, const T* y, int64_t i, auto part) {
  const Vector<T> d = load(dy + i, part), zero = {};
  if (y == nullptr) return d;
  return load(y + i, part) == zero ? zero : d;
}

template <class T>
void batch_norm_sums(Scalar<T>* dweight, Scalar<T>* dbias, const T* dy, const T* y, const T* x,
                     const BatchOperands& operands, int64_t rows, int64_t channels) {
  using A = Scalar<T>;
  sweep<T>(channels, [&](int64_t j, auto part) {
    const Vector<T> mean = load(static_cast<const A*>(operands.mean) + j, part);
    Vector<T> weights = {}, biases = {};
    for (int64_t r = 0; r < rows; ++r) {
      const Vector<T> g = opened(dy, y, r * channels + j, part);
      weights += g * (load(x + r * channels + j, part) - mean);
      biases += g;
    }
    store(dweight + j, weights * load(static_cast<const A*>(operands.rstd) + j, part), part);
    store(dbias + j, biases, part);
  });
}

/// With n = (x - mean)·rstd and g = dy where ReLU was active: dx = weight·rstd·(g - mean(g) - n·mean(g·n)).
template <class T>
void batch_norm_backward(T* dx, T* dresidual, const T* dy, const T* y, const T* x, const BatchOperands& operands,
                         const Scalar<T>* dweight, const Scalar<T>* dbias, int64_t total, int64_t rows,
                         int64_t channels) {
  using A = Scalar<T>;
  const auto* mean = static_cast<const A*>(operands.mean);
  const auto* rstd = static_cast<const A*>(operands.rstd);
  const auto* weight = static_cast<const T*>(operands.weight);
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
  set<channel_statistics<T>>(loops.channel_statistics);
  set<combine_statistics<T>>(loops.combine_statistics);
  set<batch_norm_forward<T>>(loops.batch_norm_forward);
  set<batch_norm_sums<T>>(loops.batch_norm_sums);
  set<batch_norm_backward<T>>(loops.batch_norm_backward);
}
RANKSCOPE_FOR_ALL_TYPES(add_batch_norm)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
