// Dropout: the mask is a function of the row's global index, so it is drawn again in backward instead of kept.
#include "kernels/cpu/dropout_row.hpp"
#include "kernels/cpu/ops.hpp"

namespace rankscope::kernels::cpu {

Prepared<View, View, View, DropoutDraw> dropout(const DropoutSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  check_probability(spec, "dropout");
  return {0, [&loops, spec, threads = options.threads](View y, View x, View residual, DropoutDraw draw, const Stream&) {
            for_dropout_rows(spec, draw, threads, [&](std::int64_t from, const DropoutRow& row) {
              loops.dropout_row(at(y, from), at(x, from), spec.residual ? at(residual, from) : nullptr, spec.width,
                                row);
            });
          }};
}

}  // namespace rankscope::kernels::cpu
