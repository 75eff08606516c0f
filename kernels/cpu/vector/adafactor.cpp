// The passes of Adafactor (Shazeer and Stern 2018, arXiv 1804.04235, algorithms 4 and 5).
#include "kernels/cpu/vector/tables.hpp"

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
void factor_roots(void* moment_, void* roots_, const void* squares_, int64_t n, double decay, double factor,
                  double epsilon) {
  using A = Scalar<T>;
  auto* moment = static_cast<A*>(moment_);
  auto* roots = static_cast<A*>(roots_);
  const auto* squares = static_cast<const A*>(squares_);
  const A kept = static_cast<A>(decay), rest = static_cast<A>(1 - decay);
  const A scale = static_cast<A>(factor);
  const Vector<A> least = Vector<A>{} + static_cast<A>(epsilon);
  sweep<A>(n, [&](int64_t i, auto part) {
    const Vector<A> next = fused(kept, load(moment + i, part), rest * fused(scale, load(squares + i, part), least));
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
    // In fp32 a few terms a lane at most, so that a long row loses nothing.
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
void weighted_descent(void* parameter_, void* master_, const void* gradient_, const void* weight_, int64_t n,
                      double factor, double decay) {
  using A = Scalar<T>;
  auto* parameter = static_cast<T*>(parameter_);
  auto* master = static_cast<A*>(master_);
  const auto* gradient = static_cast<const A*>(gradient_);
  const auto* weight = static_cast<const A*>(weight_);
  const A f = static_cast<A>(factor), d = static_cast<A>(decay);
  sweep<T>(n, [&](int64_t i, auto part) {
    const Vector<T> p = master ? load(master + i, part) : load(parameter + i, part);
    const Vector<T> next = p - fused(d, p, f * (load(gradient + i, part) * load(weight + i, part)));
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
