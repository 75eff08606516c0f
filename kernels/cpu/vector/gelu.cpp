// GELU in its tanh form: x/2·(1 + tanh u) with u = sqrt(2/π)·(x + 0.044715·x³), which is x·σ(2u) with the logistic
// function σ: one exponential, and no cancellation for negative x.
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

template <class A>
constexpr A root = A(0.79788456080286535588);
template <class A>
constexpr A cubic = A(0.044715);

/// σ(2u) of x.
template <class A, class V>
RANKSCOPE_INLINE V logistic(V x) {
  const V minus_2u = x * (A(-2) * root<A>)*(A(1) + cubic<A> * x * x);
  return A(1) / (A(1) + exp_of(minus_2u));
}

template <class T>
void gelu_forward(T* y, const T* x, int64_t n) {
  using A = Scalar<T>;
  sweep<T>(n, [&](int64_t i, auto part) {
    const Vector<T> v = load(x + i, part);
    store(y + i, v * logistic<A>(v), part);
  });
}

template <class T>
void gelu_slope(T* dx, const T* dy, const T* x, int64_t n) {
  using A = Scalar<T>;
  sweep<T>(n, [&](int64_t i, auto part) {
    const Vector<T> v = load(x + i, part);
    const Vector<T> s = logistic<A>(v);
    const Vector<T> inner = (A(2) * root<A>)*(A(1) + (A(3) * cubic<A>)*v * v);
    store(dx + i, load(dy + i, part) * (s + v * s * (A(1) - s) * inner), part);
  });
}

}  // namespace

template <class T>
void add_gelu(Loops& loops) {
  set<gelu_forward<T>>(loops.gelu_forward);
  set<gelu_slope<T>>(loops.gelu_slope);
}
RANKSCOPE_FOR_ALL_TYPES(add_gelu)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
