// An update's tensor, range by range. Internal to kernels/cpu.
#pragma once
#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"

namespace rankscope::kernels::cpu {

/// Fixed, so that sums do not depend on the number of threads.
inline constexpr std::int64_t elements_per_block = 16384;

/// An operand's elements from `from` on; for quantised ones this is the begin of a block.
inline UpdateStretch stretch_of(const UpdateOperand& o, std::int64_t from) {
  return {at(o.parameter, from),
          at_or_null(o.master, from),
          at(o.gradient, from),
          {at_or_null(o.states[0], from), at_or_null(o.states[1], from),
           at_or_null(o.states[2], from / quantised_block), at_or_null(o.states[3], from / quantised_block)}};
}

}  // namespace rankscope::kernels::cpu
