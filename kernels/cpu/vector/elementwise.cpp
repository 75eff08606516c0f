// Sums, products with a number, sums over rows, sums of squares, changes of type.
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

template <class T>
void add(T* y, const T* a, const T* b, int64_t n) {
  sweep<T>(n, [&](int64_t i, auto part) { store(y + i, load(a + i, part) + load(b + i, part), part); });
}

template <class T>
void scale(T* x, double factor, int64_t n) {
  const auto f = static_cast<Scalar<T>>(factor);
  sweep<T>(n, [&](int64_t i, auto part) { store(x + i, load(x + i, part) * f, part); });
}

RANKSCOPE_INLINE DoubleVector squares(const double* x, auto part) {
  const DoubleVector v = load(x, part);
  return v * v;
}
/// For fp32 values, half a vector at a time, so that nothing is rounded.
template <class T>
RANKSCOPE_INLINE DoubleVector squares(const T* x, auto part) {
  FloatVector v = load(x, part);
  HalfFloatVector half[2];
  __builtin_memcpy(half, &v, sizeof v);
  const DoubleVector low = __builtin_convertvector(half[0], DoubleVector);
  const DoubleVector high = __builtin_convertvector(half[1], DoubleVector);
  return low * low + high * high;
}

template <class T>
double square_sum(const T* x, int64_t n) {
  DoubleVector sum[2] = {};
  int next = 0;
  sweep<T>(n, [&](int64_t i, auto part) {
    sum[next] += squares(x + i, part);
    next ^= 1;
  });
  return sum_of(sum[0] + sum[1]);
}

template <class T>
void add_bias(T* y, const T* bias, int64_t rows, int64_t width) {
  for (int64_t r = 0; r < rows; ++r, y += width)
    sweep<T>(width, [&](int64_t j, auto part) { store(y + j, load(y + j, part) + load(bias + j, part), part); });
}

template <class T>
void column_sums(Scalar<T>* sums, const T* x, int64_t rows, int64_t width) {
  sweep<T>(width, [&](int64_t j, auto part) {
    Vector<T> sum = {};
    for (int64_t r = 0; r < rows; ++r) sum += load(x + r * width + j, part);
    store(sums + j, sum, part);
  });
}

template <class T>
void sum_partials(Scalar<T>* y, const Scalar<T>* partial, int64_t blocks, int64_t width, int64_t first, int64_t last,
                  bool accumulate) {
  using A = Scalar<T>;
  y += first;
  partial += first;
  sweep<A>(last - first, [&](int64_t j, auto part) {
    Vector<A> sum = {};
    for (int64_t b = 0; b < blocks; ++b) sum += load(partial + b * width + j, part);
    if (accumulate) sum += load(y + j, part);
    store(y + j, sum, part);
  });
}

template <class T>
void widen(Scalar<T>* wide, const T* x, int64_t n) {
  sweep<T>(n, [&](int64_t i, auto part) { store(wide + i, load(x + i, part), part); });
}

template <class T>
void narrow(T* x, const Scalar<T>* wide, int64_t n) {
  sweep<T>(n, [&](int64_t i, auto part) { store(x + i, load(wide + i, part), part); });
}

template <class T>
void pixels(T* y, const std::int32_t* bytes, int64_t n) {
  using A = Scalar<T>;
  sweep<T>(n, [&](int64_t i, auto part) {
    Vector<T> v = {};
    for (int k = 0; k < count_of<T>(part); ++k) v[k] = static_cast<A>(bytes[i + k]);
    store(y + i, v / A(127.5) - A(1), part);
  });
}

}  // namespace

template <class T>
void add_elementwise(Loops& loops) {
  set<add<T>>(loops.add);
  set<scale<T>>(loops.scale);
  set<square_sum<T>>(loops.square_sum);
  set<add_bias<T>>(loops.add_bias);
  set<column_sums<T>>(loops.column_sums);
  set<sum_partials<T>>(loops.sum_partials);
  set<pixels<T>>(loops.pixels);
  set<widen<T>>(loops.widen);
  set<narrow<T>>(loops.narrow);
}
RANKSCOPE_FOR_ALL_TYPES(add_elementwise)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
