// Tests of convolutional networks' ops in addition to the table of ops: their gradients equal finite differences,
// images may be processed in parts, and NaNs are not lost.
#include <cmath>
#include <functional>

#include "kernels/cpu/cpu.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cpu/tensors.hpp"

using namespace rankscope;
using namespace rankscope::kernels;
using namespace rankscope::kernels::test;

namespace {

double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The slope of `value` along `direction` at x, by central differences; restores x.
double slope(Tensor& x, const Values& direction, const std::function<double()>& value) {
  const double step = 1e-5;
  const Values at = x.values();
  const auto moved = [&](double by) {
    Values values = at;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += by * direction[i];
    x.set(values);
    return value();
  };
  const double slope = (moved(step) - moved(-step)) / (2 * step);
  x.set(at);
  return slope;
}

Values direction_for(const Tensor& x, std::uint64_t seed) {
  return random_values(x.view().elements(), DType::f64, seed);
}

}  // namespace

TEST_CASE("a convolution's gradients are the slopes of its result") {
  const auto kernel = GENERATE(1, 3, 7);
  const auto stride = GENERATE(1, 2);
  const auto padding = GENERATE(0, 1, 3);
  const ConvolutionSpec spec{DType::f64, 2, 9, 8, 3, 4, kernel, stride, padding};
  const SetUnderTest set(cpu_kernels());
  Tensor x = random_tensor({2, 9, 8, 3}, DType::f64, 1), w = random_tensor({4, kernel, kernel, 3}, DType::f64, 2);
  const Shape shape{2, spec.out_height(), spec.out_width(), 4};
  const Tensor dy = random_tensor(shape, DType::f64, 3), y(shape, DType::f64);
  const Tensor dx({2, 9, 8, 3}, DType::f64), dw({4, kernel, kernel, 3}, DType::f64);
  set.launch(set.prepare(&KernelSet::convolution_input_gradient, spec), dx, dy, w);
  set.launch(set.prepare(&KernelSet::convolution_weight_gradient, spec), dw, dy, x);
  const auto value = [&] {
    set.launch(set.prepare(&KernelSet::convolution_forward, spec), y, x, w);
    return dot(y.values(), dy.values());
  };
  const Values of_x = direction_for(x, 4), of_w = direction_for(w, 5);
  CHECK(slope(x, of_x, value) == Approx(dot(dx.values(), of_x)).margin(1e-7));
  CHECK(slope(w, of_w, value) == Approx(dot(dw.values(), of_w)).margin(1e-7));
}

TEST_CASE("a batch norm's gradients are the slopes of its result") {
  const bool relu = GENERATE(false, true), residual = GENERATE(false, true);
  const std::int64_t rows = 70, channels = 5;
  const BatchNormSpec spec{.type = DType::f64, .rows = rows, .channels = channels, .residual = residual, .relu = relu};
  const SetUnderTest set(cpu_kernels());
  Tensor x = random_tensor({rows, channels}, DType::f64, 1, 2), branch = random_tensor({rows, channels}, DType::f64, 2);
  Tensor weight = random_tensor({channels}, DType::f64, 3), bias = random_tensor({channels}, DType::f64, 4);
  const Tensor dy = random_tensor({rows, channels}, DType::f64, 5), y({rows, channels}, DType::f64);
  const Tensor mean({channels}, DType::f64), rstd({channels}, DType::f64);
  const auto value = [&] {
    set.launch(set.prepare(&KernelSet::batch_norm_forward, spec), y, mean, rstd, x, weight, bias,
               residual ? branch.view() : View{});
    return dot(y.values(), dy.values());
  };
  value();
  const Tensor dx({rows, channels}, DType::f64), dbranch({rows, channels}, DType::f64);
  const Tensor dweight({channels}, DType::f64), dbias({channels}, DType::f64);
  set.launch(set.prepare(&KernelSet::batch_norm_backward, spec), dx, dweight, dbias, residual ? dbranch.view() : View{},
             dy, relu ? y.view() : View{}, x, mean, rstd, weight);
  const auto agrees = [&](Tensor& of, const Tensor& gradient, std::uint64_t seed) {
    const Values direction = direction_for(of, seed);
    CHECK(slope(of, direction, value) == Approx(dot(gradient.values(), direction)).margin(1e-7));
  };
  agrees(x, dx, 6);
  agrees(weight, dweight, 7);
  agrees(bias, dbias, 8);
  if (residual) agrees(branch, dbranch, 9);
}

TEST_CASE("pools' gradients are the slopes of their results") {
  const SetUnderTest set(cpu_kernels());
  Tensor x = random_tensor({2, 7, 9, 3}, DType::f64, 1);
  const Tensor dx({2, 7, 9, 3}, DType::f64);
  const Values direction = direction_for(x, 3);
  SECTION("of the greatest") {
    const PoolSpec spec{DType::f64, 2, 7, 9, 3, 3, 2, 1};
    const Shape shape{2, spec.out_height(), spec.out_width(), 3};
    const Tensor dy = random_tensor(shape, DType::f64, 2), y(shape, DType::f64), index(shape, DType::i32);
    const auto value = [&] {
      set.launch(set.prepare(&KernelSet::max_pool_forward, spec), y, index, x);
      return dot(y.values(), dy.values());
    };
    value();
    set.launch(set.prepare(&KernelSet::max_pool_backward, spec), dx, dy, index);
    CHECK(slope(x, direction, value) == Approx(dot(dx.values(), direction)).margin(1e-7));
  }
  SECTION("of the mean") {
    const MeanPoolSpec spec{DType::f64, 2, 63, 3};
    const Tensor dy = random_tensor({2, 3}, DType::f64, 2), y({2, 3}, DType::f64);
    const auto value = [&] {
      set.launch(set.prepare(&KernelSet::mean_pool_forward, spec), y, x);
      return dot(y.values(), dy.values());
    };
    set.launch(set.prepare(&KernelSet::mean_pool_backward, spec), dx, dy);
    CHECK(slope(x, direction, value) == Approx(dot(dx.values(), direction)).margin(1e-7));
  }
}

TEST_CASE("many samples unfolded in parts give the same as each alone") {
  // 1.8 MB of columns per sample in fp64: two samples per part.
  const ConvolutionSpec together{DType::f64, 6, 34, 31, 24, 8, 3, 1, 1};
  ConvolutionSpec alone = together;
  alone.samples = 1;
  alone.accumulate = true;
  const SetUnderTest set(cpu_kernels());
  const auto op = set.prepare(&KernelSet::convolution_forward, together);
  CHECK(op.workspace_bytes < std::int64_t{5} << 20);
  const std::int64_t of_x = 34 * 31 * 24, of_y = 34 * 31 * 8;
  const Tensor x = random_tensor({6, 34, 31, 24}, DType::f64, 1), w = random_tensor({8, 3, 3, 24}, DType::f64, 2);
  const Tensor dy = random_tensor({6, 34, 31, 8}, DType::f64, 3);
  const Tensor y({6, 34, 31, 8}, DType::f64), dx({6, 34, 31, 24}, DType::f64), dw({8, 3, 3, 24}, DType::f64);
  set.launch(op, y, x, w);
  set.launch(set.prepare(&KernelSet::convolution_input_gradient, together), dx, dy, w);
  set.launch(set.prepare(&KernelSet::convolution_weight_gradient, together), dw, dy, x);
  const Tensor dws({8, 3, 3, 24}, DType::f64, Values(8 * 9 * 24, 0.0));
  Values ys, dxs;
  for (std::int64_t sample = 0; sample < 6; ++sample) {
    const auto part = [&](const Tensor& of, std::int64_t elements) {
      const Values all = of.values();
      const auto begin = all.begin() + sample * elements;
      return Tensor({elements}, DType::f64, Values(begin, begin + elements));
    };
    const Tensor own_y({of_y}, DType::f64), own_dx({of_x}, DType::f64, Values(of_x, 0.0));
    set.launch(set.prepare(&KernelSet::convolution_forward, alone), own_y, part(x, of_x), w);
    set.launch(set.prepare(&KernelSet::convolution_input_gradient, alone), own_dx, part(dy, of_y), w);
    set.launch(set.prepare(&KernelSet::convolution_weight_gradient, alone), dws, part(dy, of_y), part(x, of_x));
    const Values y_values = own_y.values(), dx_values = own_dx.values();
    ys.insert(ys.end(), y_values.begin(), y_values.end());
    dxs.insert(dxs.end(), dx_values.begin(), dx_values.end());
  }
  CHECK(difference(y.values(), ys) < 1e-14);
  CHECK(difference(dx.values(), dxs) < 1e-14);
  CHECK(difference(dw.values(), dws.values()) < 1e-13);
}

TEST_CASE("a ReLU and a pool keep a NaN") {
  const SetUnderTest set(cpu_kernels());
  const DType type = GENERATE(DType::f64, DType::f32, DType::bf16, DType::f16);
  Values values = random_values(16 * 20, type, 1);
  values[5 * 20 + 3] = NAN;
  const Tensor x({16, 20}, type, values), y({16, 20}, type);
  const Tensor weight({20}, type, Values(20, 1.0)), bias({20}, type, Values(20, 0.0));
  const DType statistics = type == DType::f64 ? DType::f64 : DType::f32;
  const Tensor mean({20}, statistics), rstd({20}, statistics);
  set.launch(set.prepare(&KernelSet::batch_norm_forward,
                         BatchNormSpec{.type = type, .rows = 16, .channels = 20, .relu = true}),
             y, mean, rstd, x, weight, bias, View{});
  for (std::int64_t r = 0; r < 16; ++r)
    for (std::int64_t c = 0; c < 20; ++c) CHECK(std::isnan(y.values()[r * 20 + c]) == (c == 3));
  const Tensor pooled({1, 2, 2, 20}, type), index({1, 2, 2, 20}, DType::i32);
  set.launch(set.prepare(&KernelSet::max_pool_forward, PoolSpec{type, 1, 4, 4, 20, 2, 2, 0}), pooled, index, x);
  CHECK(std::isnan(pooled.values()[3]));
  CHECK(index.view().as<std::int32_t>()[3] == 5);
  CHECK_FALSE(std::isnan(pooled.values()[4]));
}

TEST_CASE("windows larger than the image are refused") {
  const KernelSet set = cpu_kernels();
  CHECK_THROWS_WITH(set.prepare(&KernelSet::convolution_forward, ConvolutionSpec{DType::f32, 1, 4, 5, 3, 2, 7, 1, 1}),
                    "there is no convolution of 4 x 5 pixels with a kernel of 7, a stride of 1 and a padding of 1");
  CHECK_THROWS_AS(set.prepare(&KernelSet::convolution_forward, ConvolutionSpec{DType::f32, 1, 4, 5, 3, 2, 3, 0, 1}),
                  Unsupported);
  CHECK_THROWS_AS(set.prepare(&KernelSet::max_pool_forward, PoolSpec{DType::f32, 1, 4, 4, 3, 3, 1, 2}), Unsupported);
}
