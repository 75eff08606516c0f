// An optimizer's rule applied to a range of elements. Files that include this are compiled without contraction: see
// kernels/update_rules.hpp.
#pragma once
#include "kernels/cpu/vector/vector.hpp"
#include "kernels/update_rules.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {

/// The Math parameter of the rules: A, the arithmetic type, by vectors.
template <class A>
struct Math {
  using Scalar = A;
  using Number = Vector<A>;
  RANKSCOPE_INLINE static Number fused(Number a, Number b, Number c) { return RANKSCOPE_ISA::fused(a, b, c); }
  RANKSCOPE_INLINE static Number fused(Scalar a, Number b, Number c) { return RANKSCOPE_ISA::fused(a, b, c); }
  RANKSCOPE_INLINE static Number root(Number x) { return root_of(x); }
};

/// Updates n elements. The parameter is written from its master.
template <class T, class Rule>
[[gnu::flatten]] void apply(const Rule& rule, const UpdateStretch& stretch, int64_t n) {
  using A = Scalar<T>;
  auto* parameter = static_cast<T*>(stretch.parameter);
  auto* master = static_cast<A*>(stretch.master);
  const auto* gradient = static_cast<const A*>(stretch.gradient);
  A* const states[] = {static_cast<A*>(stretch.state[0]), static_cast<A*>(stretch.state[1])};
  const Rule own = rule;  // a copy that no store can alias
  sweep<T>(n, [&](int64_t i, auto part) {
    const Vector<T> p = master ? load(master + i, part) : load(parameter + i, part);
    Vector<T> state[2] = {};
    for (int s = 0; s < Rule::states; ++s) state[s] = load(states[s] + i, part);
    const Vector<T> next = own.next(p, load(gradient + i, part), state);
    for (int s = 0; s < Rule::states; ++s) store(states[s] + i, state[s], part);
    if (master) store(master + i, next, part);
    store(parameter + i, next, part);
  });
}

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
