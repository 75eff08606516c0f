// Adds a branch to the residual stream: its product's bias, dropout and the sum in one pass. If tensor ranks share the
// product, its bias can only be added after the sum of their parts.
#include "kernels/cpu/dropout_row.hpp"
#include "kernels/cpu/ops.hpp"

namespace rankscope::kernels::cpu {

Prepared<View, View, View, View, DropoutDraw> residual_sum(const DropoutSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  check_probability(spec, "residual_sum");
  return {0, [&loops, spec, threads = options.threads](View y, View x, View bias, View residual, DropoutDraw draw,
                                                       const Stream&) {
            for_dropout_rows(spec, draw, threads, [&](std::int64_t from, const DropoutRow& row) {
              loops.residual_row(at(y, from), at(x, from), bias.data, at(residual, from), spec.width,
                                 spec.probability > 0 ? &row : nullptr);
            });
          }};
}

}  // namespace rankscope::kernels::cpu
