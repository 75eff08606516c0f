// The passes of Adafactor.
#include "kernels/cpu/vector/tables.hpp"
#include "kernels/cpu/vector/update.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

template <class T>
void column_square_sums(Scalar<T>* sums, const Scalar<T>* x, int64_t rows, int64_t width) {
  using A = Scalar<T>;
  sweep<A>(width, [&](int64_t j, auto part) {
    Vector<A> sum = {};
    for (int64_t r = 0; r < rows; ++r) {
      const Vector<A> v = load(x + r * width + j, part);
      sum += v * v;
    }
    store(sums + j, sum, part);
  });
}

template <class T>
void factor_roots(Scalar<T>* moment, Scalar<T>* roots, const Scalar<T>* squares, int64_t n, double factor,
                  const AdafactorNumbers& numbers) {
  using A = Scalar<T>;
  const Adafactor<Math<A>> rule(numbers);
  const A to_mean = static_cast<A>(factor);
  sweep<A>(n, [&](int64_t i, auto part) {
    const Vector<A> next = rule.column_moment(load(moment + i, part), to_mean, load(squares + i, part));
    store(moment + i, next, part);
    store(roots + i, A(1) / root_of(next), part);
  });
}

template <class T>
double weighted_square_sum(const Scalar<T>* x, const Scalar<T>* weight, int64_t n) {
  using A = Scalar<T>;
  Vector<A> sum = {};
  double total = 0;
  int terms = 0;
  sweep<A>(n, [&](int64_t i, auto part) {
    const Vector<A> v = load(x + i, part) * load(weight + i, part);
    sum += v * v;
    // In fp32 at most a few terms per lane, so that a long row loses no precision.
    if (++terms == 16) {
      for (int k = 0; k < lanes<A>; ++k) total += sum[k];
      sum = Vector<A>{};
      terms = 0;
    }
  });
  for (int k = 0; k < lanes<A>; ++k) total += sum[k];
  return total;
}

template <class T>
void weighted_descent(T* parameter, Scalar<T>* master, const Scalar<T>* gradient, const Scalar<T>* root, int64_t n,
                      double factor, const AdafactorNumbers& numbers) {
  using A = Scalar<T>;
  const Adafactor<Math<A>> rule(numbers);
  const A f = static_cast<A>(factor);
  sweep<T>(n, [&](int64_t i, auto part) {
    const Vector<T> p = master ? load(master + i, part) : load(parameter + i, part);
    const Vector<T> next = rule.next(p, load(gradient + i, part), f, load(root + i, part));
    if (master) store(master + i, next, part);
    store(parameter + i, next, part);
  });
}

}  // namespace

template <class T>
void add_adafactor(Loops& loops) {
  set<column_square_sums<T>>(loops.column_square_sums);
  set<factor_roots<T>>(loops.factor_roots);
  set<weighted_square_sum<T>>(loops.weighted_square_sum);
  set<weighted_descent<T>>(loops.weighted_descent);
}
RANKSCOPE_FOR_ALL_TYPES(add_adafactor)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
