#include "engine/explain/analyse/magnitudes.hpp"

#include <numeric>

#include "kernels/tensor/magnitude.hpp"

namespace rankscope {

Fp16Shares fp16_shares(std::span<const std::int64_t> counts) {
  const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  Fp16Shares shares;
  if (all <= 0) return shares;
  for (int bin = 0; bin < static_cast<int>(counts.size()); ++bin) {
    const int exponent = exponent_of_bin(bin);
    double& share = bin == zero_bin                                          ? shares.zero
                    : bin >= not_finite_bin || exponent > fp16_last_exponent ? shares.beyond
                    : exponent < fp16_least_exponent                         ? shares.below
                    : exponent < fp16_least_normal_exponent                  ? shares.subnormal
                                                                             : shares.normal;
    share += static_cast<double>(counts[static_cast<std::size_t>(bin)]) / all;
  }
  return shares;
}

}  // namespace rankscope
