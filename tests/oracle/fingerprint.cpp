#include "tests/oracle/fingerprint.hpp"

#include <cmath>
#include <limits>

#include "kernels/tensor/element.hpp"
#include "tests/comparison.hpp"

namespace rankscope::oracle {

namespace {

/// The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014): bit k is the sign of an element in sum k.
std::uint64_t signs_of(std::uint64_t index) {
  std::uint64_t bits = index + 0x9E3779B97F4A7C15ULL;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBULL;
  return bits ^ (bits >> 31);
}

}  // namespace

Fingerprint fingerprint(const View& tensor, std::int64_t skip_begin, std::int64_t skip_end) {
  Fingerprint f;
  f.elements = tensor.elements();
  double squares = 0;
  for (std::int64_t i = 0; i < f.elements; ++i) {
    if (i >= skip_begin && i < skip_end) continue;
    const double value = tensor.type == DType::i32 ? tensor.as<std::int32_t>()[i] : element(tensor, i);
    squares += value * value;
    const std::uint64_t signs = signs_of(static_cast<std::uint64_t>(i));
    for (std::size_t k = 0; k < Fingerprint::sums; ++k) f.sum[k] += (signs >> k & 1) != 0 ? -value : value;
  }
  f.norm = std::sqrt(squares);
  return f;
}

double error_of(const Fingerprint& actual, const Fingerprint& expected, double least_norm) {
  if (actual.elements != expected.elements) return std::numeric_limits<double>::infinity();
  test::LargestError worst;
  worst.add(test::absolute_error(actual.norm, expected.norm));
  for (std::size_t k = 0; k < Fingerprint::sums; ++k) worst.add(test::absolute_error(actual.sum[k], expected.sum[k]));
  if (worst.value() == 0) return 0;
  return worst.value() / (expected.norm > least_norm ? expected.norm : least_norm);
}

}  // namespace rankscope::oracle
