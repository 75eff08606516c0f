// Softmax and cross-entropy of one row of logits. Sums in fp64: a vocabulary may have 50,000 words.
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

template <class V>
RANKSCOPE_INLINE V larger(V a, V b) {
  return a > b ? a : b;
}

template <class T>
RANKSCOPE_INLINE Scalar<T> greatest_in(const T* logits, int64_t n) {
  Vector<T> greatest = Vector<T>{} + static_cast<Scalar<T>>(-__builtin_inff());
  sweep<T>(n, [&](int64_t j, auto part) {
    Vector<T> v = load(logits + j, part);
    if constexpr (requires { part.count; })
      for (int i = part.count; i < lanes<T>; ++i) v[i] = static_cast<Scalar<T>>(-__builtin_inff());
    greatest = larger(greatest, v);
  });
  return greatest_of(greatest);
}

constexpr int64_t block = 512;  ///< partial sums of a block in A, of the blocks in fp64

/// G is the gradient's element type, T the logits'; they may be the same memory.
template <class G, class T>
double row(G* gradient, const T* logits, int64_t n, int64_t target, double scale) {
  using A = Scalar<T>;
  const A top = greatest_in(logits, n);
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
  // p - 1 from the loss itself, without cancellation if p is near 1.
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

/// T is the numerators' element type, L the logits'; they may be the same memory.
template <class T, class L>
void numerators_of(T* numerators, const L* logits, int64_t columns, int64_t valid, double* greatest, double* sum) {
  const Scalar<L> top = greatest_in(logits, valid);
  *greatest = static_cast<double>(top);
  *sum = 0;
  for (int64_t first = 0; first < valid; first += block) {
    Vector<L> part_sum = {};
    const int64_t count = valid - first < block ? valid - first : block;
    sweep<L>(count, [&](int64_t j, auto part) {
      Vector<L> e = exp_of(load(logits + first + j, part) - top);
      if constexpr (requires { part.count; })
        for (int i = part.count; i < lanes<L>; ++i) e[i] = 0;
      part_sum += e;
      store(numerators + first + j, e, part);
    });
    *sum += static_cast<double>(sum_of(part_sum));
  }
  sweep<T>(columns - valid, [&](int64_t j, auto part) { store(numerators + valid + j, Vector<T>{}, part); });
}

template <class T>
void numerators_row(void* numerators, const void* logits, int64_t columns, int64_t valid, double* greatest, double* sum,
                    bool wide) {
  auto* to = static_cast<T*>(numerators);
  if (wide) return numerators_of(to, static_cast<const Scalar<T>*>(logits), columns, valid, greatest, sum);
  numerators_of(to, static_cast<const T*>(logits), columns, valid, greatest, sum);
}

}  // namespace

template <class T>
void add_cross_entropy(Loops& loops) {
  set<cross_entropy_row<T>>(loops.cross_entropy_row);
  set<numerators_row<T>>(loops.numerators_row);
}
RANKSCOPE_FOR_ALL_TYPES(add_cross_entropy)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
