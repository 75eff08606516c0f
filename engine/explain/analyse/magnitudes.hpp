// A step's gradients by magnitude, compared with the range of fp16: smaller gradients become zero, which a
// loss scale prevents (Micikevicius et al. 2018, arXiv 1710.03740, section 3.2).
#pragma once
#include "engine/lesson/formats/shares.hpp"

namespace rankscope {

/// `counts`: by the bins of kernels/tensor/magnitude.hpp. fp16's least number is 2^-24, its least normal one 2^-14, and
/// 2^16 is out of its range.
inline FormatShares fp16_shares(std::span<const std::int64_t> counts) {
  return shares_in(exponents_of(NumberFormat::fp16), counts);
}

}  // namespace rankscope
