// What a branch adds to the residual stream: its product's bias, dropout and the sum in one pass. Where tensor ranks
// share the product, its bias can only be added once their parts are.
#include "kernels/cpu/dropout_row.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {

Prepared<View, View, View, View, DropoutDraw> residual_sum(const DropoutSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  if (!(spec.probability >= 0 && spec.probability < 1))
    throw Unsupported("residual_sum needs a probability of at least 0 and below 1, not " +
                      std::to_string(spec.probability));
  return {0, [&loops, spec, threads = options.threads](View y, View x, View bias, View residual, DropoutDraw draw,
                                                       const Stream&) {
            const std::int64_t blocks = (spec.width + 3) / 4;
            parallel_for(threads, spec.rows, [&](std::int64_t first, std::int64_t last, int) {
              DropoutRow row = dropout_row(spec, draw);
              for (std::int64_t r = first; r < last; ++r) {
                row.first_block = static_cast<std::uint64_t>((draw.first_row + r) * blocks);
                const std::int64_t from = r * spec.width;
                loops.residual_row(at(y, from), at(x, from), bias.data, at(residual, from), spec.width,
                                   spec.probability > 0 ? &row : nullptr);
              }
            });
          }};
}

}  // namespace rankscope::kernels::cpu
