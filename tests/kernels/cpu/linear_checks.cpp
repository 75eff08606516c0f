#include <algorithm>
#include <cmath>

#include "tests/catch.hpp"
#include "tests/kernels/cpu/checks.hpp"
#include "tests/kernels/cpu/in_parallel.hpp"
#include "tests/kernels/cpu/tensors.hpp"

namespace rankscope::kernels::test {
namespace {

struct Size {
  std::int64_t rows, in, out;
};
const Size sizes[] = {{1, 1, 1}, {7, 15, 1}, {15, 7, 33}, {64, 32, 96}, {65, 130, 48}};
const std::vector<Size> of_models{{256, 768, 2304}, {200, 1600, 512}};

std::vector<DType> result_types(DType type) {
  if (bytes_of(type) == 2) return {type, DType::f32};
  return {type};
}

/// c[i][j] = start + sum over k of a(i, k)·b(k, j).
template <class A, class B>
Values product(std::int64_t rows, std::int64_t columns, std::int64_t depth, const Values& start, A a, B b) {
  Values c = start;
  for_each_in_parallel(rows, static_cast<double>(rows * columns * depth), [&](std::int64_t i) {
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t k = 0; k < depth; ++k) c[i * columns + j] += a(i, k) * b(k, j);
  });
  return c;
}

double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
double gelu_slope(double x) {
  const double t = std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
}

/// A set may round a product's result before it applies GELU or its slope, and always rounds after. GELU multiplies the
/// relative error of the first rounding by at most 1.29 (x·GELU'(x)/GELU(x), x > 0); the slope does not change it.
double twice_rounded(const SetUnderTest& set, DType type) {
  return std::max(set.bound(type, type), 2.3 * bound(type, type));
}

}  // namespace

void check_linear_forward(const SetUnderTest& set, DType type) {
  for (const Size& s : set.sizes(sizes, of_models))
    for (DType result : result_types(type))
      for (const bool bias : {false, true})
        for (const bool residual : {false, true}) {
          INFO(s.rows << " x " << s.in << " -> " << s.out << ", bias " << bias << ", residual " << residual);
          const Tensor x = random_tensor({s.rows, s.in}, type, 1), w = random_tensor({s.out, s.in}, type, 2);
          const Tensor b = random_tensor({s.out}, type, 3), r = random_tensor({s.rows, s.out}, result, 4);
          const Tensor y({s.rows, s.out}, result);
          const auto op = set.prepare(&KernelSet::linear_forward, LinearSpec{.type = type,
                                                                             .result_type = result,
                                                                             .rows = s.rows,
                                                                             .in = s.in,
                                                                             .out = s.out,
                                                                             .bias = bias,
                                                                             .residual = residual});
          set.launch(op, y, x, w, bias ? b.view() : View{}, residual ? r.view() : View{});
          const Values xs = x.values(), ws = w.values(), bs = b.values(), rs = r.values();
          Values start(static_cast<std::size_t>(s.rows * s.out));
          for (std::size_t i = 0; i < start.size(); ++i) start[i] = (bias ? bs[i % s.out] : 0) + (residual ? rs[i] : 0);
          const Values expected = product(
              s.rows, s.out, s.in, start, [&](auto i, auto k) { return xs[i * s.in + k]; },
              [&](auto k, auto j) { return ws[j * s.in + k]; });
          CHECK(difference(y.values(), expected) < set.bound(type, result));
          CHECK(y.guarded());
        }
}

void check_linear_gelu_forward(const SetUnderTest& set, DType type) {
  for (const Size& s : set.sizes(sizes, of_models))
    for (const bool bias : {false, true}) {
      INFO(s.rows << " x " << s.in << " -> " << s.out << ", bias " << bias);
      const Tensor x = random_tensor({s.rows, s.in}, type, 1), w = random_tensor({s.out, s.in}, type, 2);
      const Tensor b = random_tensor({s.out}, type, 3);
      const Tensor y({s.rows, s.out}, type), before({s.rows, s.out}, type);
      const LinearSpec spec{.type = type, .result_type = type, .rows = s.rows, .in = s.in, .out = s.out, .bias = bias};
      set.launch(set.prepare(&KernelSet::linear_gelu_forward, spec), y, before, x, w, bias ? b.view() : View{});
      const Values xs = x.values(), ws = w.values(), bs = b.values();
      Values start(static_cast<std::size_t>(s.rows * s.out));
      for (std::size_t i = 0; i < start.size(); ++i) start[i] = bias ? bs[i % s.out] : 0;
      Values expected = product(
          s.rows, s.out, s.in, start, [&](auto i, auto k) { return xs[i * s.in + k]; },
          [&](auto k, auto j) { return ws[j * s.in + k]; });
      CHECK(difference(before.values(), expected) < set.bound(type, type));
      for (double& v : expected) v = gelu(v);
      CHECK(difference(y.values(), expected) < twice_rounded(set, type));
      CHECK(y.guarded());
      CHECK(before.guarded());
    }
}

void check_linear_input_gradient(const SetUnderTest& set, DType type) {
  for (const Size& s : set.sizes(sizes, of_models))
    for (DType result : result_types(type))
      for (const bool accumulate : {false, true}) {
        const Tensor dy = random_tensor({s.rows, s.out}, type, 1), w = random_tensor({s.out, s.in}, type, 2);
        const Tensor dx = random_tensor({s.rows, s.in}, result, 3);
        Values start = dx.values();
        if (!accumulate) start.assign(start.size(), 0);
        const auto op = set.prepare(&KernelSet::linear_input_gradient, LinearSpec{.type = type,
                                                                                  .result_type = result,
                                                                                  .rows = s.rows,
                                                                                  .in = s.in,
                                                                                  .out = s.out,
                                                                                  .accumulate = accumulate});
        set.launch(op, dx, dy, w);
        const Values dys = dy.values(), ws = w.values();
        const Values expected = product(
            s.rows, s.in, s.out, start, [&](auto i, auto k) { return dys[i * s.out + k]; },
            [&](auto k, auto j) { return ws[k * s.in + j]; });
        CHECK(difference(dx.values(), expected) < set.bound(type, result));
        CHECK(dx.guarded());
      }
}

void check_linear_gelu_input_gradient(const SetUnderTest& set, DType type) {
  for (const Size& s : set.sizes(sizes, of_models)) {
    INFO(s.rows << " x " << s.in << " -> " << s.out);
    const Tensor dy = random_tensor({s.rows, s.out}, type, 1), w = random_tensor({s.out, s.in}, type, 2);
    const Tensor before = random_tensor({s.rows, s.in}, type, 5, 4), dbefore({s.rows, s.in}, type);
    const LinearSpec spec{.type = type, .result_type = type, .rows = s.rows, .in = s.in, .out = s.out};
    set.launch(set.prepare(&KernelSet::linear_gelu_input_gradient, spec), dbefore, dy, w, before);
    const Values dys = dy.values(), ws = w.values(), befores = before.values();
    Values expected = product(
        s.rows, s.in, s.out, Values(befores.size(), 0.0), [&](auto i, auto k) { return dys[i * s.out + k]; },
        [&](auto k, auto j) { return ws[k * s.in + j]; });
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] *= gelu_slope(befores[i]);
    CHECK(difference(dbefore.values(), expected) < twice_rounded(set, type));
    CHECK(dbefore.guarded());
    CHECK(before.values() == befores);
  }
}

void check_linear_weight_gradient(const SetUnderTest& set, DType type) {
  for (const Size& s : set.sizes(sizes, of_models))
    for (const bool accumulate : {false, true})
      for (const bool bias : {false, true})
        for (const bool accumulate_bias : {false, true}) {
          if (accumulate_bias && !bias) continue;
          INFO(s.rows << " x " << s.in << " -> " << s.out << ", bias " << bias << (accumulate_bias ? " added" : ""));
          const Tensor dy = random_tensor({s.rows, s.out}, type, 1), x = random_tensor({s.rows, s.in}, type, 2);
          const Tensor dw = random_tensor({s.out, s.in}, wide(type), 3), db = random_tensor({s.out}, wide(type), 4);
          Values start = dw.values(), sums = db.values();
          if (!accumulate) start.assign(start.size(), 0);
          if (bias && !accumulate_bias) sums.assign(sums.size(), 0);
          const auto op =
              set.prepare(&KernelSet::linear_weight_gradient, LinearSpec{.type = type,
                                                                         .result_type = wide(type),
                                                                         .rows = s.rows,
                                                                         .in = s.in,
                                                                         .out = s.out,
                                                                         .bias = bias,
                                                                         .accumulate = accumulate,
                                                                         .accumulate_bias = accumulate_bias});
          set.launch(op, dw, bias ? db.view() : View{}, dy, x);
          const Values dys = dy.values(), xs = x.values();
          const Values expected = product(
              s.out, s.in, s.rows, start, [&](auto i, auto k) { return dys[k * s.out + i]; },
              [&](auto k, auto j) { return xs[k * s.in + j]; });
          for (std::size_t i = 0; bias && i < dys.size(); ++i) sums[i % sums.size()] += dys[i];
          CHECK(difference(dw.values(), expected) < set.bound(type, wide(type)));
          CHECK(difference(db.values(), sums) < set.bound(type, wide(type)));
          CHECK(dw.guarded());
          CHECK(db.guarded());
        }
}

void check_bias_gradient(const SetUnderTest& set, DType type) {
  const std::int64_t row_counts[] = {1, 7, 64, 65, 200}, widths[] = {1, 15, 32, 100};
  for (const std::int64_t rows : set.sizes(row_counts, {4096}))
    for (const std::int64_t width : set.sizes(widths, {2304}))
      for (const bool accumulate : {false, true}) {
        const Tensor dy = random_tensor({rows, width}, type, 1), db = random_tensor({width}, wide(type), 2);
        Values expected = db.values();
        if (!accumulate) expected.assign(expected.size(), 0);
        const Values dys = dy.values();
        for (std::size_t i = 0; i < dys.size(); ++i) expected[i % width] += dys[i];
        set.launch(set.prepare(&KernelSet::bias_gradient, BiasGradientSpec{type, rows, width, accumulate}), db, dy);
        CHECK(difference(db.values(), expected) < set.bound(type, wide(type)));
        CHECK(db.guarded());
      }
}

}  // namespace rankscope::kernels::test
