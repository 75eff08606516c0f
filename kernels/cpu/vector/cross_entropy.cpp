// Softmax and cross-entropy of one row of logits. Sums in fp64: a vocabulary may have 50,000 words.
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

template <class V>
RANKSCOPE_INLINE V larger(V a, V b) {
  return a > b ? a : b;
}

/// G is the gradient's element type, T the logits'; they may be the same memory.
template <class G, class T>
double row(G* gradient, const T* logits, int64_t n, int64_t target, double scale) {
  using A = Scalar<T>;
  constexpr int64_t block = 512;  // partial sums of a block in A, of the blocks in fp64
  Vector<T> greatest = Vector<T>{} + static_cast<A>(-__builtin_inff());
  sweep<T>(n, [&](int64_t j, auto part) {
    Vector<T> v = load(logits + j, part);
    if constexpr (requires { part.count; })
      for (int i = part.count; i < lanes<T>; ++i) v[i] = static_cast<A>(-__builtin_inff());
    greatest = larger(greatest, v);
  });
  const A top = greatest_of(greatest);
  double sum = 0;
  for (int64_t first = 0; first < n; first += block) {
    Vector<T> part_sum = {};
    const int64_t count = n - first < block ? n - first : block;
    sweep<T>(count, [&](int64_t j, auto part) {
      Vector<T> e = exp_of(load(logits + first + j, part) - top);
      if constexpr (requires { part.count; })
        for (int i = part.count; i < lanes<T>; ++i) e[i] = 0;
      part_sum += e;
    });
    sum += static_cast<double>(sum_of(part_sum));
  }
  const A at_target = load(logits + target, First{1})[0];
  const double loss = __builtin_log(sum) + (static_cast<double>(top) - static_cast<double>(at_target));
  const A factor = static_cast<A>(scale / sum);
  sweep<T>(n, [&](int64_t j, auto part) { store(gradient + j, exp_of(load(logits + j, part) - top) * factor, part); });
  // p - 1 from the loss itself, which does not cancel when p is near 1.
  const Vector<G> d = Vector<G>{} + static_cast<Scalar<G>>(scale * __builtin_expm1(-loss));
  store(gradient + target, d, First{1});
  return loss;
}

template <class T>
double cross_entropy_row(void* gradient, const void* logits, int64_t vocabulary, int64_t target, double scale,
                         bool wide) {
  if (wide) return row(static_cast<T*>(gradient), static_cast<const Scalar<T>*>(logits), vocabulary, target, scale);
  return row(static_cast<T*>(gradient), static_cast<const T*>(logits), vocabulary, target, scale);
}

}  // namespace

template <class T>
void add_cross_entropy(Loops& loops) {
  loops.cross_entropy_row = cross_entropy_row<T>;
}
RANKSCOPE_FOR_ALL_TYPES(add_cross_entropy)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
