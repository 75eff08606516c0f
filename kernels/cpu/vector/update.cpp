// The optimizers' updates of a range of elements.
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

RANKSCOPE_INLINE FloatVector root_of(FloatVector v) {
  for (int i = 0; i < lanes<float>; ++i) v[i] = __builtin_sqrtf(v[i]);
  return v;
}
RANKSCOPE_INLINE DoubleVector root_of(DoubleVector v) {
  for (int i = 0; i < lanes<double>; ++i) v[i] = __builtin_sqrt(v[i]);
  return v;
}

/// p - rate·(decay·p + clip·g). The parameter is rewritten from its master.
template <class T>
void sgd(void* parameter_, void* master_, const void* gradient_, int64_t n, const UpdateNumbers& numbers) {
  using A = Scalar<T>;
  auto* parameter = static_cast<T*>(parameter_);
  auto* master = static_cast<A*>(master_);
  const auto* gradient = static_cast<const A*>(gradient_);
  // Not p·(1 - decay): in fp32 the difference from 1 would keep two digits.
  const A decay = static_cast<A>(numbers.learning_rate * numbers.weight_decay);
  const A rate = static_cast<A>(numbers.learning_rate * numbers.gradient_scale);
  sweep<T>(n, [&](int64_t i, auto part) {
    const Vector<T> p = master ? load(master + i, part) : load(parameter + i, part);
    const Vector<T> next = p - (decay * p + rate * load(gradient + i, part));
    if (master) store(master + i, next, part);
    store(parameter + i, next, part);
  });
}

/// AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101): decay apart from the gradient, both moments corrected.
template <class T>
void adamw(void* parameter_, void* master_, void* m_, void* v_, const void* gradient_, int64_t n,
           const UpdateNumbers& numbers) {
  using A = Scalar<T>;
  auto* parameter = static_cast<T*>(parameter_);
  auto* master = static_cast<A*>(master_);
  auto* m = static_cast<A*>(m_);
  auto* v = static_cast<A*>(v_);
  const auto* gradient = static_cast<const A*>(gradient_);
  const A decay = static_cast<A>(numbers.learning_rate * numbers.weight_decay);
  const A clip = static_cast<A>(numbers.gradient_scale);
  const A beta1 = static_cast<A>(numbers.beta1), rest1 = static_cast<A>(1 - numbers.beta1);
  const A beta2 = static_cast<A>(numbers.beta2), rest2 = static_cast<A>(1 - numbers.beta2);
  const A rate = static_cast<A>(numbers.learning_rate / numbers.correction1);
  const A inverse2 = static_cast<A>(1 / numbers.correction2);
  const A epsilon = static_cast<A>(numbers.epsilon);
  sweep<T>(n, [&](int64_t i, auto part) {
    const Vector<T> g = load(gradient + i, part) * clip;
    const Vector<T> first = beta1 * load(m + i, part) + rest1 * g;
    const Vector<T> second = beta2 * load(v + i, part) + rest2 * g * g;
    const Vector<T> p = master ? load(master + i, part) : load(parameter + i, part);
    const Vector<T> next = p - (decay * p + rate * first / (root_of(second * inverse2) + epsilon));
    store(m + i, first, part);
    store(v + i, second, part);
    if (master) store(master + i, next, part);
    store(parameter + i, next, part);
  });
}

}  // namespace

template <class T>
void add_update(Loops& loops) {
  loops.sgd = sgd<T>;
  loops.adamw = adamw<T>;
}
RANKSCOPE_FOR_ALL_TYPES(add_update)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
