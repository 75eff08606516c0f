// A tensor in a few numbers, by which a file of references stays small: its Frobenius norm, and its elements summed
// with signs drawn at random. Where two tensors differ by d in norm, each such sum differs by about d, and that none of
// eight does has a probability of some (2δ/d)^8 for a difference of the sums below δ. make_references.py computes the
// same.
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

/// Of all elements but [skip_begin, skip_end), which count as zeros.
Fingerprint fingerprint(const View& tensor, std::int64_t skip_begin = 0, std::int64_t skip_end = 0);

/// The largest difference of the norms and sums, over the expected norm, or over `least_norm` if that is larger.
/// Infinite for tensors of other sizes and where anything is NaN.
double error_of(const Fingerprint& actual, const Fingerprint& expected, double least_norm);

}  // namespace rankscope::oracle
