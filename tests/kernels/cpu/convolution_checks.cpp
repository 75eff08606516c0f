// Convolutions, batch norm and pools, each compared with the loops of its definition.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/kernels/cpu/checks.hpp"
#include "tests/kernels/cpu/tensors.hpp"

namespace rankscope::kernels::test {
namespace {

const ConvolutionSpec convolutions[] = {
    {DType::f32, 1, 1, 1, 1, 1, 1, 1, 0},  {DType::f32, 2, 5, 7, 3, 4, 1, 1, 0},
    {DType::f32, 2, 6, 5, 17, 9, 1, 2, 0}, {DType::f32, 1, 4, 4, 3, 2, 1, 1, 1},  // 1×1 with padding
    {DType::f32, 1, 7, 9, 5, 6, 3, 1, 1},  {DType::f32, 2, 8, 7, 16, 32, 3, 2, 1},
    {DType::f32, 1, 6, 6, 2, 3, 3, 2, 0},  {DType::f32, 2, 4, 9, 33, 48, 3, 1, 1},
    {DType::f32, 2, 5, 5, 3, 2, 3, 1, 3},  {DType::f32, 3, 9, 11, 3, 8, 7, 2, 3},
    {DType::f32, 1, 8, 9, 4, 5, 7, 1, 0},  {DType::f32, 1, 7, 7, 64, 32, 3, 1, 1},
    {DType::f32, 2, 7, 8, 3, 5, 2, 3, 0},  {DType::f32, 1, 3, 4, 2, 3, 3, 3, 1}};
const std::vector<ConvolutionSpec> convolutions_of_models{{DType::f32, 2, 28, 28, 64, 64, 3, 1, 1},
                                                          {DType::f32, 2, 56, 56, 16, 32, 1, 1, 0},
                                                          {DType::f32, 2, 14, 14, 256, 64, 3, 2, 1},
                                                          {DType::f32, 1, 112, 112, 3, 64, 7, 2, 3}};

Shape shape_of_x(const ConvolutionSpec& s) { return {s.samples, s.height, s.width, s.in}; }
Shape shape_of_w(const ConvolutionSpec& s) { return {s.out, s.kernel, s.kernel, s.in}; }
Shape shape_of_y(const ConvolutionSpec& s) { return {s.samples, s.out_height(), s.out_width(), s.out}; }

/// Calls body(element of y, of x, of w) for every product of the definition.
template <class Body>
void for_each_term(const ConvolutionSpec& s, Body body) {
  for (std::int64_t sample = 0; sample < s.samples; ++sample)
    for (std::int64_t i = 0; i < s.out_height(); ++i)
      for (std::int64_t j = 0; j < s.out_width(); ++j)
        for (std::int64_t o = 0; o < s.out; ++o)
          for (std::int64_t a = 0; a < s.kernel; ++a)
            for (std::int64_t b = 0; b < s.kernel; ++b) {
              const std::int64_t h = i * s.stride + a - s.padding, w = j * s.stride + b - s.padding;
              if (h < 0 || h >= s.height || w < 0 || w >= s.width) continue;
              for (std::int64_t c = 0; c < s.in; ++c)
                body(((sample * s.out_height() + i) * s.out_width() + j) * s.out + o,
                     ((sample * s.height + h) * s.width + w) * s.in + c,
                     ((o * s.kernel + a) * s.kernel + b) * s.in + c);
            }
}

struct BatchSize {
  std::int64_t rows, channels;
};
const BatchSize batches[] = {{2, 1}, {7, 15}, {64, 16}, {65, 33}, {130, 300}, {400, 3}};
const std::vector<BatchSize> batches_of_models{{6272, 64}, {392, 2048}, {1568, 1000}};

const PoolSpec pools[] = {{DType::f32, 1, 1, 1, 1, 1, 1, 0}, {DType::f32, 2, 8, 8, 16, 3, 2, 1},
                          {DType::f32, 1, 7, 9, 5, 3, 2, 1}, {DType::f32, 2, 6, 7, 33, 2, 2, 0},
                          {DType::f32, 1, 5, 8, 3, 3, 1, 1}, {DType::f32, 1, 9, 7, 4, 7, 2, 3},
                          {DType::f32, 2, 7, 8, 2, 2, 3, 1}};
const std::vector<PoolSpec> pools_of_models{{DType::f32, 2, 112, 112, 64, 3, 2, 1}};

std::string words_of(const ConvolutionSpec& s) {
  std::ostringstream words;
  words << s.height << " x " << s.width << " x " << s.in << " to " << s.out << ", kernel " << s.kernel << ", stride "
        << s.stride << ", padding " << s.padding << (s.accumulate ? ", accumulated" : "");
  return words.str();
}

/// Few different values, so that many are equal.
Tensor levels(Shape shape, DType type, std::uint64_t seed) {
  Values values = random_values(shape.elements(), DType::f64, seed, 2.5);
  for (double& v : values) v = std::round(v);
  return Tensor(shape, type, values);
}

/// Calls body(element of y, position in its sample, element of x) for every element in every window.
template <class Body>
void for_each_element_under(const PoolSpec& s, Body body) {
  for (std::int64_t sample = 0; sample < s.samples; ++sample)
    for (std::int64_t i = 0; i < s.out_height(); ++i)
      for (std::int64_t j = 0; j < s.out_width(); ++j)
        for (std::int64_t c = 0; c < s.channels; ++c)
          for (std::int64_t h = i * s.stride - s.padding; h < i * s.stride - s.padding + s.kernel; ++h)
            for (std::int64_t w = j * s.stride - s.padding; w < j * s.stride - s.padding + s.kernel; ++w)
              if (h >= 0 && h < s.height && w >= 0 && w < s.width)
                body(((sample * s.out_height() + i) * s.out_width() + j) * s.channels + c, h * s.width + w,
                     ((sample * s.height + h) * s.width + w) * s.channels + c);
}

/// Greatest elements and their positions.
void pool(const PoolSpec& spec, const Values& x, Values& y, std::vector<std::int32_t>& index) {
  const std::int64_t n = spec.samples * spec.out_height() * spec.out_width() * spec.channels;
  y.assign(static_cast<std::size_t>(n), -INFINITY);
  index.assign(static_cast<std::size_t>(n), -1);
  for_each_element_under(spec, [&](std::int64_t to, std::int64_t place, std::int64_t from) {
    if (!(x[from] > y[to])) return;
    y[to] = x[from];
    index[to] = static_cast<std::int32_t>(place);
  });
}

}  // namespace

void check_convolution_forward(const SetUnderTest& set, DType type) {
  for (ConvolutionSpec spec : set.sizes(convolutions, convolutions_of_models)) {
    spec.type = type;
    INFO(words_of(spec));
    const Tensor x = random_tensor(shape_of_x(spec), type, 1), w = random_tensor(shape_of_w(spec), type, 2);
    const Tensor y(shape_of_y(spec), type);
    set.launch(set.prepare(&KernelSet::convolution_forward, spec), y, x, w);
    const Values xs = x.values(), ws = w.values();
    Values expected(static_cast<std::size_t>(y.view().elements()));
    for_each_term(spec, [&](std::int64_t to, std::int64_t from, std::int64_t k) { expected[to] += xs[from] * ws[k]; });
    CHECK(difference(y.values(), expected) < set.bound(type, type));
    CHECK(y.guarded());
  }
}

void check_convolution_input_gradient(const SetUnderTest& set, DType type) {
  for (ConvolutionSpec spec : set.sizes(convolutions, convolutions_of_models))
    for (const bool accumulate : {false, true}) {
      spec.type = type;
      spec.accumulate = accumulate;
      INFO(words_of(spec));
      const Tensor dy = random_tensor(shape_of_y(spec), type, 1), w = random_tensor(shape_of_w(spec), type, 2);
      const Tensor dx = accumulate ? random_tensor(shape_of_x(spec), type, 3) : Tensor(shape_of_x(spec), type);
      Values expected = accumulate ? dx.values() : Values(static_cast<std::size_t>(dx.view().elements()));
      const Values dys = dy.values(), ws = w.values();
      for_each_term(spec,
                    [&](std::int64_t from, std::int64_t to, std::int64_t k) { expected[to] += dys[from] * ws[k]; });
      set.launch(set.prepare(&KernelSet::convolution_input_gradient, spec), dx, dy, w);
      // Some implementations round the sum before they add it.
      CHECK(difference(dx.values(), expected) < (accumulate ? 2 : 1) * set.bound(type, type));
      CHECK(dx.guarded());
    }
}

void check_convolution_weight_gradient(const SetUnderTest& set, DType type) {
  for (ConvolutionSpec spec : set.sizes(convolutions, convolutions_of_models))
    for (const bool accumulate : {false, true}) {
      spec.type = type;
      spec.accumulate = accumulate;
      INFO(words_of(spec));
      const Tensor dy = random_tensor(shape_of_y(spec), type, 1), x = random_tensor(shape_of_x(spec), type, 2);
      const Tensor dw =
          accumulate ? random_tensor(shape_of_w(spec), wide(type), 3) : Tensor(shape_of_w(spec), wide(type));
      Values expected = accumulate ? dw.values() : Values(static_cast<std::size_t>(dw.view().elements()));
      const Values dys = dy.values(), xs = x.values();
      for_each_term(spec,
                    [&](std::int64_t to, std::int64_t from, std::int64_t k) { expected[k] += dys[to] * xs[from]; });
      set.launch(set.prepare(&KernelSet::convolution_weight_gradient, spec), dw, dy, x);
      CHECK(difference(dw.values(), expected) < set.bound(type, wide(type)));
      CHECK(dw.guarded());
    }
}

void check_batch_norm_forward(const SetUnderTest& set, DType type) {
  for (const BatchSize& s : set.sizes(batches, batches_of_models))
    for (const bool residual : {false, true})
      for (const bool relu : {false, true}) {
        INFO(s.rows << " rows of " << s.channels << (residual ? ", residual" : "") << (relu ? ", ReLU" : ""));
        const auto rows = static_cast<double>(s.rows);
        // Far from zero, where the variance would lose digits if computed from squares.
        Values values = random_values(s.rows * s.channels, type, 1, 3);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += static_cast<double>(i % s.channels % 7) * 3;
        const Tensor x({s.rows, s.channels}, type, values);
        const Tensor weight = random_tensor({s.channels}, type, 2), bias = random_tensor({s.channels}, type, 3);
        const Tensor branch = random_tensor({s.rows, s.channels}, type, 4);
        const Tensor y({s.rows, s.channels}, type), mean({s.channels}, wide(type)), rstd({s.channels}, wide(type));
        const BatchNormSpec spec{
            .type = type, .rows = s.rows, .channels = s.channels, .residual = residual, .relu = relu};
        set.launch(set.prepare(&KernelSet::batch_norm_forward, spec), y, mean, rstd, x, weight, bias,
                   residual ? branch.view() : View{});
        const Values xs = x.values(), ws = weight.values(), bs = bias.values(), branches = branch.values();
        Values expected(xs.size()), means, rstds;
        for (std::int64_t c = 0; c < s.channels; ++c) {
          double sum = 0, squares = 0;
          for (std::int64_t r = 0; r < s.rows; ++r) sum += xs[r * s.channels + c];
          const double m = sum / rows;
          for (std::int64_t r = 0; r < s.rows; ++r) squares += std::pow(xs[r * s.channels + c] - m, 2);
          const double d = 1 / std::sqrt(squares / rows + 1e-5);
          for (std::int64_t i = c; i < s.rows * s.channels; i += s.channels) {
            expected[i] = (xs[i] - m) * d * ws[c] + bs[c] + (residual ? branches[i] : 0);
            if (relu) expected[i] = std::max(expected[i], 0.0);
          }
          means.push_back(m);
          rstds.push_back(d);
        }
        CHECK(difference(y.values(), expected) < 2 * set.bound(type, type));
        CHECK(difference(mean.values(), means) < set.bound(type, wide(type)));
        CHECK(difference(rstd.values(), rstds) < set.bound(type, wide(type)));
        CHECK(y.guarded());
        CHECK(mean.guarded());
        CHECK(rstd.guarded());
      }
}

void check_batch_norm_backward(const SetUnderTest& set, DType type) {
  for (const BatchSize& s : set.sizes(batches, batches_of_models))
    for (const bool residual : {false, true})
      for (const bool relu : {false, true})
        for (const bool accumulate : {false, true}) {
          INFO(s.rows << " rows of " << s.channels << (residual ? ", residual" : "") << (relu ? ", ReLU" : ""));
          const auto rows = static_cast<double>(s.rows);
          const Shape shape{s.rows, s.channels};
          const Tensor x = random_tensor(shape, type, 1, 3), dy = random_tensor(shape, type, 2);
          Values cut = random_values(s.rows * s.channels, type, 9);
          for (double& v : cut) v = std::max(v, 0.0);
          const Tensor y(shape, type, cut), weight = random_tensor({s.channels}, type, 3);
          const Tensor mean = random_tensor({s.channels}, wide(type), 5);
          const Tensor rstd = random_tensor({s.channels}, wide(type), 6);
          // dx and dy may be the same tensor.
          const Tensor dx = accumulate ? random_tensor(shape, type, 2) : Tensor(shape, type), dresidual(shape, type);
          const Tensor dweight = random_tensor({s.channels}, wide(type), 7);
          const Tensor dbias = random_tensor({s.channels}, wide(type), 8);
          Values dws = dweight.values(), dbs = dbias.values();
          if (!accumulate) dws.assign(dws.size(), 0);
          if (accumulate) dbs.assign(dbs.size(), 0);  // the two flags are independent
          const Values xs = x.values(), dys = dy.values(), ws = weight.values(), ms = mean.values(), rs = rstd.values();
          Values gs(xs.size()), dxs(xs.size());
          for (std::size_t i = 0; i < xs.size(); ++i) gs[i] = relu && cut[i] == 0 ? 0 : dys[i];
          for (std::int64_t c = 0; c < s.channels; ++c) {
            double g_sum = 0, gn_sum = 0;
            for (std::int64_t i = c; i < s.rows * s.channels; i += s.channels) {
              g_sum += gs[i];
              gn_sum += gs[i] * (xs[i] - ms[c]) * rs[c];
            }
            for (std::int64_t i = c; i < s.rows * s.channels; i += s.channels)
              dxs[i] = ws[c] * rs[c] * (gs[i] - g_sum / rows - (xs[i] - ms[c]) * rs[c] * gn_sum / rows);
            dws[c] += gn_sum;
            dbs[c] += g_sum;
          }
          const BatchNormSpec spec{.type = type,
                                   .rows = s.rows,
                                   .channels = s.channels,
                                   .residual = residual,
                                   .relu = relu,
                                   .accumulate_weight = accumulate,
                                   .accumulate_bias = !accumulate};
          set.launch(set.prepare(&KernelSet::batch_norm_backward, spec), dx, dweight, dbias,
                     residual ? dresidual.view() : View{}, accumulate ? dx.view() : dy.view(), relu ? y.view() : View{},
                     x, mean, rstd, weight);
          CHECK(difference(dx.values(), dxs) < set.bound(type, type));
          if (residual) CHECK(dresidual.values() == gs);
          CHECK(difference(dweight.values(), dws) < set.bound(type, wide(type)));
          CHECK(difference(dbias.values(), dbs) < set.bound(type, wide(type)));
          CHECK(dx.guarded());
          CHECK(dresidual.guarded());
          CHECK(dweight.guarded());
          CHECK(dbias.guarded());
        }
}

void check_max_pool_forward(const SetUnderTest& set, DType type) {
  for (PoolSpec spec : set.sizes(pools, pools_of_models)) {
    spec.type = type;
    INFO(spec.height << " x " << spec.width << ", kernel " << spec.kernel << ", stride " << spec.stride);
    const Tensor x = levels({spec.samples, spec.height, spec.width, spec.channels}, type, 1);
    const Shape shape{spec.samples, spec.out_height(), spec.out_width(), spec.channels};
    const Tensor y(shape, type), index(shape, DType::i32);
    Values expected;
    std::vector<std::int32_t> places;
    pool(spec, x.values(), expected, places);
    set.launch(set.prepare(&KernelSet::max_pool_forward, spec), y, index, x);
    CHECK(y.values() == expected);
    const auto* found = index.view().as<std::int32_t>();
    CHECK(std::vector<std::int32_t>(found, found + places.size()) == places);
    CHECK(y.guarded());
    CHECK(index.guarded());
  }
}

void check_max_pool_backward(const SetUnderTest& set, DType type) {
  for (PoolSpec spec : set.sizes(pools, pools_of_models)) {
    spec.type = type;
    INFO(spec.height << " x " << spec.width << ", kernel " << spec.kernel << ", stride " << spec.stride);
    const Shape shape{spec.samples, spec.height, spec.width, spec.channels};
    const Tensor dy = random_tensor({spec.samples, spec.out_height(), spec.out_width(), spec.channels}, type, 2);
    const Tensor dx(shape, type);
    const Values dys = dy.values();
    Values y, expected(static_cast<std::size_t>(dx.view().elements()));
    std::vector<std::int32_t> index;
    pool(spec, levels(shape, type, 1).values(), y, index);
    for_each_element_under(spec, [&](std::int64_t from, std::int64_t place, std::int64_t to) {
      if (index[from] == place) expected[to] += dys[from];
    });
    set.launch(set.prepare(&KernelSet::max_pool_backward, spec), dx, dy, integers(index));
    CHECK(difference(dx.values(), expected) < set.bound(type, type));
    CHECK(dx.guarded());
  }
}

const MeanPoolSpec mean_pools[] = {{DType::f32, 1, 1, 1}, {DType::f32, 3, 49, 33}, {DType::f32, 2, 5, 64}};
const std::vector<MeanPoolSpec> mean_pools_of_models{{DType::f32, 8, 49, 2048}};

void check_mean_pool_forward(const SetUnderTest& set, DType type) {
  for (MeanPoolSpec spec : set.sizes(mean_pools, mean_pools_of_models)) {
    spec.type = type;
    const Tensor x = random_tensor({spec.samples, spec.positions, spec.channels}, type, 1);
    const Tensor y({spec.samples, spec.channels}, type);
    const Values xs = x.values();
    Values expected(static_cast<std::size_t>(y.view().elements()));
    for (std::int64_t s = 0; s < spec.samples; ++s)
      for (std::int64_t p = 0; p < spec.positions; ++p)
        for (std::int64_t c = 0; c < spec.channels; ++c)
          expected[s * spec.channels + c] +=
              xs[(s * spec.positions + p) * spec.channels + c] / static_cast<double>(spec.positions);
    set.launch(set.prepare(&KernelSet::mean_pool_forward, spec), y, x);
    CHECK(difference(y.values(), expected) < set.bound(type, type));
    CHECK(y.guarded());
  }
}

void check_mean_pool_backward(const SetUnderTest& set, DType type) {
  for (MeanPoolSpec spec : set.sizes(mean_pools, mean_pools_of_models)) {
    spec.type = type;
    const Tensor dy = random_tensor({spec.samples, spec.channels}, type, 1);
    const Tensor dx({spec.samples, spec.positions, spec.channels}, type);
    const Values dys = dy.values();
    Values expected;
    for (std::int64_t s = 0; s < spec.samples; ++s)
      for (std::int64_t p = 0; p < spec.positions; ++p)
        for (std::int64_t c = 0; c < spec.channels; ++c)
          expected.push_back(dys[s * spec.channels + c] / static_cast<double>(spec.positions));
    set.launch(set.prepare(&KernelSet::mean_pool_backward, spec), dx, dy);
    CHECK(difference(dx.values(), expected) < set.bound(type, type));
    CHECK(dx.guarded());
  }
}

void check_pixels(const SetUnderTest& set, DType type) {
  for (const std::int64_t width : {1, 3, 53}) {
    std::vector<std::int32_t> bytes;
    Values expected;
    for (std::int64_t i = 0; i < 11 * width; ++i) {
      bytes.push_back(static_cast<std::int32_t>(i * 89 % 256));
      expected.push_back(bytes.back() / 127.5 - 1);
    }
    bytes.back() = 255;
    expected.back() = 1;
    const Tensor y({11, width}, type);
    set.launch(set.prepare(&KernelSet::pixels, ElementwiseSpec{type, 11, width}), y, integers(bytes));
    CHECK(difference(y.values(), expected) < set.bound(type, type));
    CHECK(y.guarded());
  }
}

}  // namespace rankscope::kernels::test
