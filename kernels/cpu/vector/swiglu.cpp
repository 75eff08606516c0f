// SwiGLU: y = gate·σ(gate)·up with the logistic function σ.
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

template <class T>
void swiglu_forward(T* y, const T* gate, const T* up, int64_t n) {
  using A = Scalar<T>;
  sweep<T>(n, [&](int64_t i, auto part) {
    const Vector<T> g = load(gate + i, part);
    store(y + i, g / (A(1) + exp_of(-g)) * load(up + i, part), part);
  });
}

/// The slope of g·σ(g) is σ(g)·(1 + g·(1 - σ(g))).
template <class T>
void swiglu_backward(T* dgate, T* dup, const T* dy, const T* gate, const T* up, int64_t n) {
  using A = Scalar<T>;
  sweep<T>(n, [&](int64_t i, auto part) {
    const Vector<T> d = load(dy + i, part), g = load(gate + i, part);
    const Vector<T> s = A(1) / (A(1) + exp_of(-g));
    store(dgate + i, d * load(up + i, part) * s * (A(1) + g * (A(1) - s)), part);
    store(dup + i, d * g * s, part);
  });
}

}  // namespace

template <class T>
void add_swiglu(Loops& loops) {
  set<swiglu_forward<T>>(loops.swiglu_forward);
  set<swiglu_backward<T>>(loops.swiglu_backward);
}
RANKSCOPE_FOR_ALL_TYPES(add_swiglu)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
