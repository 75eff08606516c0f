// Dropout: the mask is a function of the row's global index, so it is drawn again in backward instead of kept.
#include "kernels/cpu/dropout_row.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {

Prepared<View, View, View, DropoutDraw> dropout(const DropoutSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  if (!(spec.probability >= 0 && spec.probability < 1))
    throw Unsupported("dropout needs a probability of at least 0 and below 1, not " + std::to_string(spec.probability));
  return {0, [&loops, spec, threads = options.threads](View y, View x, View residual, DropoutDraw draw, const Stream&) {
            const std::int64_t blocks = (spec.width + 3) / 4;
            parallel_for(threads, spec.rows, [&](std::int64_t first, std::int64_t last, int) {
              DropoutRow row = dropout_row(spec, draw);
              for (std::int64_t r = first; r < last; ++r) {
                row.first_block = static_cast<std::uint64_t>((draw.first_row + r) * blocks);
                const std::int64_t from = r * spec.width;
                loops.dropout_row(at(y, from), at(x, from), spec.residual ? at(residual, from) : nullptr, spec.width,
                                  row);
              }
            });
          }};
}

}  // namespace rankscope::kernels::cpu
