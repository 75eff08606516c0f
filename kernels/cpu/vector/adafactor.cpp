// The passes of Adafactor.
#include "kernels/cpu/vector/tables.hpp"
#include "kernels/cpu/vector/update.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

template <class T>
void column_square_sums(void* sums_, const void* x_, int64_t rows, int64_t width) {
  using A = Scalar<T>;
  auto* sums = static_cast<A*>(sums_);
  const auto* x = static_cast<const A*>(x_);
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
void factor_roots(void* moment_, void* roots_, const void* squares_, int64_t n, double factor,
                  const AdafactorNumbers& numbers) {
  using A = Scalar<T>;
  auto* moment = static_cast<A*>(moment_);
  auto* roots = static_cast<A*>(roots_);
  const auto* squares = static_cast<const A*>(squares_);
  const Adafactor<Math<A>> rule(numbers);
  const A to_mean = static_cast<A>(factor);
  sweep<A>(n, [&](int64_t i, auto part) {
    const Vector<A> next = rule.column_moment(load(moment + i, part), to_mean, load(squares + i, part));
    store(moment + i, next, part);
    store(roots + i, A(1) / root_of(next), part);
  });
}

template <class T>
double weighted_square_sum(const void* x_, const void* weight_, int64_t n) {
  using A = Scalar<T>;
  const auto* x = static_cast<const A*>(x_);
  const auto* weight = static_cast<const A*>(weight_);
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
void weighted_descent(void* parameter_, void* master_, const void* gradient_, const void* root_, int64_t n,
                      double factor, const AdafactorNumbers& numbers) {
  using A = Scalar<T>;
  auto* parameter = static_cast<T*>(parameter_);
  auto* master = static_cast<A*>(master_);
  const auto* gradient = static_cast<const A*>(gradient_);
  const auto* root = static_cast<const A*>(root_);
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
  loops.column_square_sums = column_square_sums<T>;
  loops.factor_roots = factor_roots<T>;
  loops.weighted_square_sum = weighted_square_sum<T>;
  loops.weighted_descent = weighted_descent<T>;
}
RANKSCOPE_FOR_ALL_TYPES(add_adafactor)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
