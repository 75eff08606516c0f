// GELU (tanh form), forward and backward.
#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {

Prepared<View, View> gelu_forward(const ElementwiseSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View y, View x, const Stream&) {
            parallel_for(threads, spec.rows, [&](std::int64_t first, std::int64_t last, int) {
              loops.gelu_forward(at(y, first * spec.width), at(x, first * spec.width), (last - first) * spec.width);
            });
          }};
}

Prepared<View, View, View, View> gelu_backward(const GeluBackwardSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  const std::int64_t blocks = blocks_of(spec.rows);
  return {aligned(blocks * spec.width * bytes_of(wide(spec.type))),
          [&loops, spec, blocks, threads = options.threads](View dx, View db, View dy, View x, const Stream& stream) {
            const View partial{stream.workspace, wide(spec.type), {blocks, spec.width}};
            parallel_for(threads, blocks, [&](std::int64_t first, std::int64_t last, int) {
              for (std::int64_t b = first; b < last; ++b) {
                const std::int64_t from = b * rows_per_block * spec.width;
                loops.gelu_backward(at(dx, from), at(partial, b * spec.width), at(dy, from), at(x, from),
                                    std::min(rows_per_block, spec.rows - b * rows_per_block), spec.width);
              }
            });
            loops.sum_partials(db.data, partial.data, blocks, spec.width, 0, spec.width, spec.accumulate_bias);
          }};
}

}  // namespace rankscope::kernels::cpu
