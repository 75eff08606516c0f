// Shared by the kernels with dropout: the constants of one dropout, and the loop over its rows.
#pragma once
#include <fmt/format.h>

#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/parallel.hpp"
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

/// `op`: the kernel's name.
inline void check_probability(const DropoutSpec& spec, const char* op) {
  if (!(spec.probability >= 0 && spec.probability < 1))
    throw Unsupported(fmt::format("{} needs a probability of at least 0 and below 1, not {}", op, spec.probability));
}

/// For every row: body(its first element, its dropout).
template <class Body>
void for_dropout_rows(const DropoutSpec& spec, const DropoutDraw& draw, int threads, const Body& body) {
  const std::int64_t blocks = (spec.width + 3) / 4;
  parallel_for(threads, spec.rows, [&](std::int64_t first, std::int64_t last, int) {
    DropoutRow row = dropout_row(spec, draw);
    for (std::int64_t r = first; r < last; ++r) {
      row.first_block = static_cast<std::uint64_t>((draw.first_row + r) * blocks);
      body(r * spec.width, row);
    }
  });
}

}  // namespace rankscope::kernels::cpu
