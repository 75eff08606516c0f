// Layer norm: y = (x - mean)·rstd·weight + bias. Two passes for the variance: the row fits the first-level cache. RMS
// norm, without mean and bias, is the same with a mean of zero.
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

/// x - mean, with zero after the last element (so that it adds nothing to a sum over the row).
template <class T, class V, class A>
RANKSCOPE_INLINE V centred(V x, A mean, Whole) {
  return x - mean;
}
template <class T, class V, class A>
RANKSCOPE_INLINE V centred(V x, A mean, First some) {
  V d = x - mean;
  for (int i = some.count; i < lanes<T>; ++i) d[i] = 0;
  return d;
}

template <class T, bool rms>
void norm_rows(T* y, Scalar<T>* mean, Scalar<T>* rstd, const T* x, const T* weight, const T* bias, int64_t rows,
               int64_t width, double epsilon) {
  using A = Scalar<T>;
  for (int64_t r = 0; r < rows; ++r, y += width, x += width) {
    A m = 0;
    if constexpr (!rms) {
      Vector<T> sum = {};
      sweep<T>(width, [&](int64_t j, auto part) { sum += load(x + j, part); });
      m = sum_of(sum) / static_cast<A>(width);
    }
    Vector<T> squares = {};
    sweep<T>(width, [&](int64_t j, auto part) {
      const Vector<T> d = centred<T>(load(x + j, part), m, part);
      squares += d * d;
    });
    const A variance = sum_of(squares) / static_cast<A>(width);
    const A s = A(1) / static_cast<A>(__builtin_sqrt(static_cast<double>(variance) + epsilon));
    sweep<T>(width, [&](int64_t j, auto part) {
      if constexpr (rms) {
        store(y + j, load(x + j, part) * s * load(weight + j, part), part);
      } else {
        const Vector<T> d = load(x + j, part) - m;
        store(y + j, d * s * load(weight + j, part) + load(bias + j, part), part);
      }
    });
    if constexpr (!rms) mean[r] = m;
    rstd[r] = s;
  }
}

template <class T>
void norm_forward(T* y, Scalar<T>* mean, Scalar<T>* rstd, const T* x, const T* weight, const T* bias, int64_t rows,
                  int64_t width, double epsilon) {
  (mean ? norm_rows<T, false> : norm_rows<T, true>)(y, mean, rstd, x, weight, bias, rows, width, epsilon);
}

/// With n = (x - mean)·rstd and g = dy·weight: dx = rstd·(g - mean(g) - n·mean(g·n)), of RMS norm without mean(g).
template <class T, bool rms>
void gradient_rows(T* dx, Scalar<T>* dweight, Scalar<T>* dbias, const T* dy, const T* x, const Scalar<T>* mean,
                   const Scalar<T>* rstd, const T* weight, const T* residual, int64_t rows, int64_t width) {
  using A = Scalar<T>;
  sweep<A>(width, [&](int64_t j, auto part) {
    store(dweight + j, Vector<A>{}, part);
    if constexpr (!rms) store(dbias + j, Vector<A>{}, part);
  });
  for (int64_t r = 0; r < rows; ++r, dx += width, dy += width, x += width) {
    const A m = rms ? A(0) : mean[r], s = rstd[r];
    Vector<T> g_sum = {}, gn_sum = {};
    sweep<T>(width, [&](int64_t j, auto part) {
      const Vector<T> d = load(dy + j, part);
      const Vector<T> n = centred<T>(load(x + j, part), m, part) * s;
      const Vector<T> g = d * load(weight + j, part);
      if constexpr (!rms) g_sum += g;
      gn_sum += g * n;
      store(dweight + j, load(dweight + j, part) + d * n, part);
      if constexpr (!rms) store(dbias + j, load(dbias + j, part) + d, part);
    });
    const A g_mean = sum_of(g_sum) / static_cast<A>(width);
    const A gn_mean = sum_of(gn_sum) / static_cast<A>(width);
    sweep<T>(width, [&](int64_t j, auto part) {
      const Vector<T> n = (load(x + j, part) - m) * s;
      Vector<T> d = (load(dy + j, part) * load(weight + j, part) - g_mean - n * gn_mean) * s;
      if (residual) d += load(residual + j, part);
      store(dx + j, d, part);
    });
    if (residual) residual += width;
  }
}

template <class T>
void norm_backward(T* dx, Scalar<T>* dweight, Scalar<T>* dbias, const T* dy, const T* x, const Scalar<T>* mean,
                   const Scalar<T>* rstd, const T* weight, const T* residual, int64_t rows, int64_t width) {
  (mean ? gradient_rows<T, false> : gradient_rows<T, true>)(dx, dweight, dbias, dy, x, mean, rstd, weight, residual,
                                                            rows, width);
}

}  // namespace

template <class T>
void add_norm(Loops& loops) {
  set<norm_forward<T>>(loops.norm_forward);
  set<norm_backward<T>>(loops.norm_backward);
}
RANKSCOPE_FOR_ALL_TYPES(add_norm)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
