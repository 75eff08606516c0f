#include "engine/explain/analyse/magnitudes.hpp"

#include "engine/lesson/formats/shares.hpp"

namespace rankscope {

Fp16Shares fp16_shares(std::span<const std::int64_t> counts) {
  const FormatShares shares = shares_in(exponents_of(NumberFormat::fp16), counts);
  return {shares.zero, shares.below, shares.subnormal, shares.normal, shares.beyond};
}

}  // namespace rankscope
