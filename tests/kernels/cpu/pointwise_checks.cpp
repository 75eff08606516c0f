#include <algorithm>
#include <cmath>

#include "kernels/tensor/magnitude.hpp"
#include "kernels/tensor/random.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cpu/checks.hpp"
#include "tests/kernels/cpu/tensors.hpp"

namespace rankscope::kernels::test {
namespace {

struct Size {
  std::int64_t rows, width;
};
const Size sizes[] = {{1, 1}, {7, 15}, {3, 64}, {65, 33}, {130, 300}};
const std::int64_t counts[] = {1, 15, 1000, 40000};
const std::vector<Size> of_models{{1024, 768}, {100, 3072}, {64, 1600}, {3, 12288}};

}  // namespace

namespace {

/// x·weight/√(mean of x² + epsilon), and with r that root's inverse and g = dy·weight: dx = r·g - x·r³·mean(g·x).
void check_rms_norm(const SetUnderTest& set, DType type) {
  for (const Size& s : set.sizes(sizes, of_models))
    for (const bool residual : {false, true}) {
      const double width = static_cast<double>(s.width), epsilon = 1e-3;
      const Tensor x = random_tensor({s.rows, s.width}, type, 1, 3), weight = random_tensor({s.width}, type, 2);
      const Tensor dy = random_tensor({s.rows, s.width}, type, 3), branch = random_tensor({s.rows, s.width}, type, 4);
      const Tensor y({s.rows, s.width}, type), dx({s.rows, s.width}, type), rstd({s.rows}, wide(type));
      const Tensor dweight = random_tensor({s.width}, wide(type), 5);
      const NormSpec spec{.type = type,
                          .rows = s.rows,
                          .width = s.width,
                          .epsilon = epsilon,
                          .rms = true,
                          .residual = residual,
                          .accumulate_weight = residual};
      const Values xs = x.values(), ws = weight.values(), dys = dy.values(), bs = branch.values();
      Values ys(xs.size()), dxs(xs.size()), rstds, dws = dweight.values();
      if (!residual) dws.assign(dws.size(), 0);
      for (std::int64_t row = 0; row < s.rows; ++row) {
        const std::int64_t first = row * s.width;
        double squares = 0, gx = 0;
        for (std::int64_t j = 0; j < s.width; ++j) {
          squares += xs[first + j] * xs[first + j] / width;
          gx += dys[first + j] * ws[j] * xs[first + j] / width;
        }
        const double r = 1 / std::sqrt(squares + epsilon);
        for (std::int64_t j = 0; j < s.width; ++j) {
          const std::int64_t i = first + j;
          ys[i] = xs[i] * r * ws[j];
          dxs[i] = r * dys[i] * ws[j] - xs[i] * r * r * r * gx + (residual ? bs[i] : 0);
          dws[j] += dys[i] * xs[i] * r;
        }
        rstds.push_back(r);
      }
      set.launch(set.prepare(&KernelSet::norm_forward, spec), y, View{}, rstd, x, weight, View{});
      CHECK(difference(y.values(), ys) < set.bound(type, type));
      CHECK(difference(rstd.values(), rstds) < set.bound(type, wide(type)));
      CHECK(y.guarded());
      const Tensor rounded({s.rows}, wide(type), rstds);
      set.launch(set.prepare(&KernelSet::norm_backward, spec), dx, dweight, View{}, dy, x, View{}, rounded, weight,
                 residual ? branch.view() : View{});
      // Of a single column the gradient is a difference of nearly equal numbers.
      CHECK(difference(dx.values(), dxs) < set.bound(type, type) + (s.width == 1 && !residual ? 1 : 0));
      CHECK(difference(dweight.values(), dws) < set.bound(type, wide(type)));
      CHECK(dx.guarded());
    }
}

}  // namespace

void check_norm_forward(const SetUnderTest& set, DType type) {
  check_rms_norm(set, type);
  for (const Size& s : set.sizes(sizes, of_models)) {
    if (s.width == 1) continue;  // its variance is zero: its digits are only rounding
    const Tensor x = random_tensor({s.rows, s.width}, type, 1, 3);
    const Tensor weight = random_tensor({s.width}, type, 2), bias = random_tensor({s.width}, type, 3);
    const Tensor y({s.rows, s.width}, type), mean({s.rows}, wide(type)), rstd({s.rows}, wide(type));
    set.launch(set.prepare(&KernelSet::norm_forward, NormSpec{.type = type, .rows = s.rows, .width = s.width}), y, mean,
               rstd, x, weight, bias);
    const Values xs = x.values(), ws = weight.values(), bs = bias.values();
    Values expected(xs.size()), means, rstds;
    for (std::int64_t r = 0; r < s.rows; ++r) {
      double sum = 0, squares = 0;
      for (std::int64_t j = 0; j < s.width; ++j) sum += xs[r * s.width + j];
      const double m = sum / static_cast<double>(s.width);
      for (std::int64_t j = 0; j < s.width; ++j) squares += std::pow(xs[r * s.width + j] - m, 2);
      const double d = 1 / std::sqrt(squares / static_cast<double>(s.width) + 1e-5);
      for (std::int64_t j = 0; j < s.width; ++j)
        expected[r * s.width + j] = (xs[r * s.width + j] - m) * d * ws[j] + bs[j];
      means.push_back(m);
      rstds.push_back(d);
    }
    CHECK(difference(y.values(), expected) < set.bound(type, type));
    CHECK(difference(mean.values(), means) < 10 * set.bound(type, wide(type)));
    CHECK(difference(rstd.values(), rstds) < set.bound(type, wide(type)));
    CHECK(y.guarded());
  }
}

void check_norm_backward(const SetUnderTest& set, DType type) {
  for (const Size& s : set.sizes(sizes, of_models))
    for (const bool residual : {false, true})
      for (const bool accumulate : {false, true}) {
        const auto width = static_cast<double>(s.width);
        const Tensor x = random_tensor({s.rows, s.width}, type, 1, 3), dy = random_tensor({s.rows, s.width}, type, 2);
        const Tensor weight = random_tensor({s.width}, type, 3), branch = random_tensor({s.rows, s.width}, type, 4);
        const Tensor mean = random_tensor({s.rows}, wide(type), 5), rstd = random_tensor({s.rows}, wide(type), 6);
        const Tensor dx({s.rows, s.width}, type), dweight = random_tensor({s.width}, wide(type), 7);
        const Tensor dbias = random_tensor({s.width}, wide(type), 8);
        Values dxs(static_cast<std::size_t>(s.rows * s.width)), dws = dweight.values(), dbs = dbias.values();
        if (!accumulate) dws.assign(dws.size(), 0);
        if (accumulate) dbs.assign(dbs.size(), 0);  // the two flags are independent
        const Values xs = x.values(), dys = dy.values(), ws = weight.values(), bs = branch.values();
        const Values ms = mean.values(), rs = rstd.values();
        for (std::int64_t r = 0; r < s.rows; ++r) {
          double g_mean = 0, gn_mean = 0;
          for (std::int64_t j = 0; j < s.width; ++j) {
            const std::int64_t i = r * s.width + j;
            const double n = (xs[i] - ms[r]) * rs[r];
            g_mean += dys[i] * ws[j] / width;
            gn_mean += dys[i] * ws[j] * n / width;
            dws[j] += dys[i] * n;
            dbs[j] += dys[i];
          }
          for (std::int64_t j = 0; j < s.width; ++j) {
            const std::int64_t i = r * s.width + j;
            const double n = (xs[i] - ms[r]) * rs[r];
            dxs[i] = rs[r] * (dys[i] * ws[j] - g_mean - n * gn_mean) + (residual ? bs[i] : 0);
          }
        }
        const NormSpec spec{.type = type,
                            .rows = s.rows,
                            .width = s.width,
                            .residual = residual,
                            .accumulate_weight = accumulate,
                            .accumulate_bias = !accumulate};
        set.launch(set.prepare(&KernelSet::norm_backward, spec), dx, dweight, dbias, dy, x, mean, rstd, weight,
                   residual ? branch.view() : View{});
        CHECK(difference(dx.values(), dxs) < set.bound(type, type) + (s.width == 1 && !residual ? 1 : 0));
        CHECK(difference(dweight.values(), dws) < set.bound(type, wide(type)));
        CHECK(difference(dbias.values(), dbs) < set.bound(type, wide(type)));
        CHECK(dx.guarded());
      }
}

void check_dropout(const SetUnderTest& set, DType type) {
  for (const Size& s : set.sizes(sizes, of_models))
    for (const double p : {0.0, 0.25, 0.9})
      for (const bool residual : {false, true}) {
        const Tensor x = random_tensor({s.rows, s.width}, type, 1), r = random_tensor({s.rows, s.width}, type, 2);
        const Tensor y({s.rows, s.width}, type);
        const DropoutDraw draw{.seed = 0x123456789ABCDEF0u, .step = 3, .first_row = (std::int64_t{1} << 33) + 5};
        const DropoutSpec spec{type, s.rows, s.width, p, 7, residual};
        set.launch(set.prepare(&KernelSet::dropout, spec), y, x, residual ? r.view() : View{}, draw);
        const Values xs = x.values(), rs = r.values();
        Values expected(xs.size());
        const std::int64_t padded = (s.width + 3) / 4 * 4;
        for (std::int64_t i = 0; i < s.rows * s.width; ++i) {
          const auto index = static_cast<std::uint64_t>((draw.first_row + i / s.width) * padded + i % s.width);
          const std::uint32_t word =
              random_word(draw.seed + draw.step * 0x9E3779B97F4A7C15u, random_stream(RandomPurpose::dropout, 7), index);
          expected[i] = (word < drop_threshold(p) ? 0 : xs[i] / (1 - p)) + (residual ? rs[i] : 0);
        }
        CHECK(difference(y.values(), expected) < set.bound(type, type));
        CHECK(y.guarded());
      }
}

void check_add(const SetUnderTest& set, DType type) {
  for (const Size& s : set.sizes(sizes, of_models)) {
    const Tensor a = random_tensor({s.rows, s.width}, type, 1), b = random_tensor({s.rows, s.width}, type, 2);
    Values expected = a.values();
    const Values bs = b.values();
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += bs[i];
    set.launch(set.prepare(&KernelSet::add, ElementwiseSpec{type, s.rows, s.width}), a, a, b);
    CHECK(difference(a.values(), expected) < set.bound(type, type));
    CHECK(a.guarded());
  }
}

void check_scale(const SetUnderTest& set, DType type) {
  for (const std::int64_t n : set.sizes(counts, {300'001})) {
    const Tensor x = random_tensor({n}, type, 1);
    Values expected = x.values();
    for (double& v : expected) v *= -0.375;
    set.launch(set.prepare(&KernelSet::scale, FlatSpec{type, n}), x, -0.375);
    CHECK(difference(x.values(), expected) < set.bound(type, type));
    CHECK(x.guarded());
  }
}

void check_square_norm(const SetUnderTest& set, DType type) {
  for (const std::int64_t n : set.sizes(counts, {300'001})) {
    const Tensor x = random_tensor({n}, type, 1, 1e3);
    double expected = 0, out = 0;
    for (double v : x.values()) expected += v * v;
    set.launch(set.prepare(&KernelSet::square_norm, FlatSpec{type, n}), &out, x);
    CHECK(difference({out}, {expected}) < 1e-13);  // in fp64, for any type of elements
    set.launch(set.prepare(&KernelSet::square_norm, FlatSpec{.type = type, .elements = n, .accumulate = true}), &out,
               x);
    CHECK(difference({out}, {2 * expected}) < 1e-13);
  }
}

void check_count_magnitudes(const SetUnderTest& set, DType type) {
  for (const std::int64_t n : set.sizes(counts, {300'001})) {
    Tensor x = random_tensor({n}, type, 1, 1);
    // From far below the lowest bin to far above the highest one, and values without a magnitude.
    std::vector<double> values = x.values();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::ldexp(values[i], static_cast<int>(i % 120) - 70);
    const std::vector<double> special{0, -0.0, INFINITY, -INFINITY, NAN, 1, -2, 0.75, 65504, 5.9604644775390625e-8};
    for (std::size_t i = 0; i < special.size() && i < values.size(); ++i) values[i] = special[i];
    x.set(values);
    std::vector<double> expected(magnitude_bins, 3.0);  // counts are added to existing ones
    for (const double value : x.values()) {
      int bin = zero_bin;
      if (!std::isfinite(value))
        bin = not_finite_bin;
      else if (value != 0)
        bin = std::clamp(std::ilogb(value) + 45, 1, 62);
      expected[static_cast<std::size_t>(bin)] += 1;
    }
    const Tensor bins({magnitude_bins}, DType::f64, std::vector<double>(magnitude_bins, 3.0));
    set.launch(set.prepare(&KernelSet::count_magnitudes, FlatSpec{type, n}), bins, x);
    CHECK(bins.values() == expected);
  }
}

void check_clip_coefficient(const SetUnderTest& set, DType type) {
  struct Case {
    double square_norm, clip, expected;
  };
  for (const Case& c : {Case{100, 0, 1}, Case{100, 20, 1}, Case{100, 1, 1 / (10 + 1e-6)}, Case{0, 1, 1}}) {
    const Tensor square({1}, DType::f64, {c.square_norm});
    double out = 0;
    set.launch(set.prepare(&KernelSet::clip_coefficient, FlatSpec{type, 1}), &out,
               static_cast<const double*>(square.view().as<double>()), c.clip);
    CHECK(difference({out}, {c.expected}) < 1e-13);
  }
}

}  // namespace rankscope::kernels::test
