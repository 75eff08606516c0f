// A tensor as a few numbers, so that a file of references stays small: its Frobenius norm, and its elements summed with
// random signs. If two tensors differ by d in norm, each such sum differs by about d; the probability that all eight
// differences are below δ is about (2δ/d)^8. make_references.py computes the same.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "kernels/tensor/view.hpp"

namespace rankscope::oracle {

struct Fingerprint {
  static constexpr int sums = 8;
  std::int64_t elements = 0;
  double norm = 0;
  std::array<double, sums> sum{};
};

/// Over all elements; those in [skip_begin, skip_end) count as zeros.
Fingerprint fingerprint(const View& tensor, std::int64_t skip_begin = 0, std::int64_t skip_end = 0);

/// The largest difference of the norms and sums, relative to the expected norm, or to `least_norm` if that is larger.
/// Infinite for tensors of different sizes and if anything is NaN.
double error_of(const Fingerprint& actual, const Fingerprint& expected, double least_norm);

}  // namespace rankscope::oracle
