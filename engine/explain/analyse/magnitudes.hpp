// A step's gradients by magnitude, compared with the range of fp16: smaller gradients become zero, which a
// loss scale prevents (Micikevicius et al. 2018, arXiv 1710.03740, section 3.2).
#pragma once
#include <cstdint>
#include <span>

namespace rankscope {

/// Shares of all elements, which sum to 1; all 0 of none.
struct Fp16Shares {
  double zero = 0;
  double below = 0;      ///< not zero, and less than fp16's least number, 2^-24
  double subnormal = 0;  ///< held with fewer digits: up to 2^-14
  double normal = 0;
  double beyond = 0;  ///< 2^16 and more, infinite, or no number
};
/// `counts`: by the bins of kernels/tensor/magnitude.hpp.
Fp16Shares fp16_shares(std::span<const std::int64_t> counts);

}  // namespace rankscope
