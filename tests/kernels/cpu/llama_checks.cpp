// Rotary positions with grouped queries, and SwiGLU.
#include <cmath>
#include <complex>

#include "tests/catch.hpp"
#include "tests/kernels/cpu/checks.hpp"
#include "tests/kernels/cpu/tensors.hpp"

namespace rankscope::kernels::test {
namespace {

const RotarySpec rotary_sizes[] = {
    {.samples = 1, .context = 1, .heads = 1, .key_value_heads = 1, .depth = 2},
    {.samples = 2, .context = 7, .heads = 6, .key_value_heads = 2, .depth = 10, .theta = 500},
    {.samples = 1, .context = 33, .heads = 4, .key_value_heads = 4, .depth = 16},
    {.samples = 3, .context = 20, .heads = 8, .key_value_heads = 1, .depth = 36, .theta = 500000},
};
const std::vector<RotarySpec> rotary_of_models{
    {.samples = 1, .context = 4096, .heads = 32, .key_value_heads = 8, .depth = 128, .theta = 500000}};

/// Calls with a packed place, a spread one, and the turn from the first to the second as a complex number (the pair's
/// two numbers are its parts), or with 0 if the number at both places is a value's, which is not turned.
template <class Body>
void for_each_pair(const RotarySpec& s, Body body) {
  const std::int64_t half = s.depth / 2, group = s.heads / s.key_value_heads;
  for (std::int64_t row = 0; row < s.rows(); ++row)
    for (std::int64_t pair = 0; pair < half; ++pair) {
      const double angle =
          static_cast<double>(row % s.context) *
          std::exp(-2.0 * static_cast<double>(pair) / static_cast<double>(s.depth) * std::log(s.theta));
      const std::complex<double> turn = std::polar(1.0, angle);
      const std::int64_t packed = row * s.packed_width() + pair, spread = row * s.spread_width() + pair;
      for (std::int64_t h = 0; h < s.heads; ++h) {
        const std::int64_t key = s.heads + h / group, value = s.heads + s.key_value_heads + h / group;
        body(packed + h * s.depth, spread + h * s.depth, turn);
        body(packed + key * s.depth, spread + (s.heads + h) * s.depth, turn);
        body(packed + value * s.depth, spread + (2 * s.heads + h) * s.depth, std::complex<double>(1));
      }
    }
}

std::complex<double> pair_at(const Values& values, std::int64_t at, std::int64_t half) {
  return {values[static_cast<std::size_t>(at)], values[static_cast<std::size_t>(at + half)]};
}

}  // namespace

void check_rotary_forward(const SetUnderTest& set, DType type) {
  for (RotarySpec spec : set.sizes(rotary_sizes, rotary_of_models)) {
    spec.type = type;
    const Tensor x = random_tensor({spec.rows(), spec.packed_width()}, type, 1);
    const Tensor y({spec.rows(), spec.spread_width()}, type);
    set.launch(set.prepare(&KernelSet::rotary_forward, spec), y, x);
    const Values xs = x.values();
    Values expected(static_cast<std::size_t>(y.view().elements()));
    const std::int64_t half = spec.depth / 2;
    for_each_pair(spec, [&](std::int64_t packed, std::int64_t spread, std::complex<double> turn) {
      const std::complex<double> turned = pair_at(xs, packed, half) * turn;
      expected[static_cast<std::size_t>(spread)] = turned.real();
      expected[static_cast<std::size_t>(spread + half)] = turned.imag();
    });
    CHECK(difference(y.values(), expected) < set.bound(type, type));
    CHECK(y.guarded());
  }
}

void check_rotary_backward(const SetUnderTest& set, DType type) {
  for (RotarySpec spec : set.sizes(rotary_sizes, rotary_of_models)) {
    spec.type = type;
    const Tensor dy = random_tensor({spec.rows(), spec.spread_width()}, type, 1);
    const Tensor dx({spec.rows(), spec.packed_width()}, type);
    set.launch(set.prepare(&KernelSet::rotary_backward, spec), dx, dy);
    const Values dys = dy.values();
    Values expected(static_cast<std::size_t>(dx.view().elements()));
    const std::int64_t half = spec.depth / 2, group = spec.heads / spec.key_value_heads;
    const std::int64_t queries = spec.heads * spec.depth;
    std::int64_t calls = 0;
    for_each_pair(spec, [&](std::int64_t packed, std::int64_t spread, std::complex<double> turn) {
      // A query's number is used once, those of a key and a value once for each head of their group.
      const bool query = packed % spec.packed_width() < queries;
      const std::complex<double> back = pair_at(dys, spread, half) * std::conj(turn);
      expected[static_cast<std::size_t>(packed)] += back.real();
      expected[static_cast<std::size_t>(packed + half)] += back.imag();
      calls += query ? group : 1;
    });
    CHECK(calls == spec.rows() * half * spec.heads * (group + 2));
    CHECK(difference(dx.values(), expected) < set.bound(type, type));
    CHECK(dx.guarded());
  }
}

namespace {

const ElementwiseSpec swiglu_sizes[] = {
    {DType::f32, 1, 1}, {DType::f32, 3, 7}, {DType::f32, 40, 33}, {DType::f32, 17, 128}};
const std::vector<ElementwiseSpec> swiglu_of_models{{DType::f32, 1024, 14336}};

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

void check_swiglu_forward(const SetUnderTest& set, DType type) {
  for (ElementwiseSpec spec : set.sizes(swiglu_sizes, swiglu_of_models)) {
    spec.type = type;
    const Tensor x = random_tensor({spec.rows, 2 * spec.width}, type, 1, 12), y({spec.rows, spec.width}, type);
    set.launch(set.prepare(&KernelSet::swiglu_forward, spec), y, x);
    const Values xs = x.values();
    Values expected;
    for (std::int64_t r = 0; r < spec.rows; ++r)
      for (std::int64_t j = 0; j < spec.width; ++j) {
        const double gate = xs[r * 2 * spec.width + j], up = xs[(r * 2 + 1) * spec.width + j];
        expected.push_back(gate * logistic(gate) * up);
      }
    CHECK(difference(y.values(), expected) < set.bound(type, type));
    CHECK(y.guarded());
  }
}

void check_swiglu_backward(const SetUnderTest& set, DType type) {
  for (ElementwiseSpec spec : set.sizes(swiglu_sizes, swiglu_of_models)) {
    spec.type = type;
    const Tensor x = random_tensor({spec.rows, 2 * spec.width}, type, 1, 12), dx({spec.rows, 2 * spec.width}, type);
    const Tensor dy = random_tensor({spec.rows, spec.width}, type, 2);
    set.launch(set.prepare(&KernelSet::swiglu_backward, spec), dx, dy, x);
    const Values xs = x.values(), dys = dy.values();
    Values expected(xs.size());
    for (std::int64_t r = 0; r < spec.rows; ++r)
      for (std::int64_t j = 0; j < spec.width; ++j) {
        const std::int64_t gate_at = r * 2 * spec.width + j, up_at = gate_at + spec.width;
        const double gate = xs[gate_at], s = logistic(gate), dy_here = dys[r * spec.width + j];
        // d/dg of g/(1 + e^-g) is s + g·e^-g·s².
        expected[gate_at] = dy_here * xs[up_at] * (s + gate * std::exp(-gate) * s * s);
        expected[up_at] = dy_here * gate * s;
      }
    CHECK(difference(dx.values(), expected) < set.bound(type, type));
    CHECK(dx.guarded());
  }
}

}  // namespace rankscope::kernels::test
