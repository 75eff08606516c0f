// The constants of one dropout, common to all its rows.
#pragma once
#include "kernels/cpu/loops.hpp"
#include "kernels/kernel_set.hpp"
#include "kernels/tensor/random.hpp"

namespace rankscope::kernels::cpu {

inline DropoutRow dropout_row(const DropoutSpec& spec, const DropoutDraw& draw) {
  DropoutRow row;
  row.key = draw.seed + draw.step * 0x9E3779B97F4A7C15u;
  row.stream = random_stream(RandomPurpose::dropout, spec.site);
  row.threshold = drop_threshold(spec.probability);
  row.factor = 1 / (1 - spec.probability);
  return row;
}

}  // namespace rankscope::kernels::cpu
