// Layer norm and RMS norm, forward and backward.
#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {

Prepared<View, View, View, View, View, View> norm_forward(const NormSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View y, View mean, View rstd, View x, View weight, View bias,
                                                       const Stream&) {
            parallel_for(threads, spec.rows, [&](std::int64_t first, std::int64_t last, int) {
              loops.norm_forward(at(y, first * spec.width), spec.rms ? nullptr : at(mean, first), at(rstd, first),
                                 at(x, first * spec.width), weight.data, bias.data, last - first, spec.width,
                                 spec.epsilon);
            });
          }};
}

Prepared<View, View, View, View, View, View, View, View, View> norm_backward(const NormSpec& spec,
                                                                             const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  const std::int64_t blocks = blocks_of(spec.rows);
  const std::int64_t partial_bytes = aligned(blocks * spec.width * bytes_of(wide(spec.type)));
  return {2 * partial_bytes, [&loops, spec, blocks, partial_bytes, threads = options.threads](
                                 View dx, View dweight, View dbias, View dy, View x, View mean, View rstd, View weight,
                                 View residual, const Stream& stream) {
            const View weights{stream.workspace, wide(spec.type), {blocks, spec.width}};
            const View biases{stream.workspace + partial_bytes, wide(spec.type), {blocks, spec.width}};
            parallel_each(threads, blocks, [&](std::int64_t b) {
              const std::int64_t row = b * rows_per_block, from = row * spec.width;
              loops.norm_backward(at(dx, from), at(weights, b * spec.width), at(biases, b * spec.width), at(dy, from),
                                  at(x, from), spec.rms ? nullptr : at(mean, row), at(rstd, row), weight.data,
                                  spec.residual ? at(residual, from) : nullptr,
                                  std::min(rows_per_block, spec.rows - row), spec.width);
            });
            loops.sum_partials(dweight.data, weights.data, blocks, spec.width, 0, spec.width, spec.accumulate_weight);
            if (spec.rms) return;
            loops.sum_partials(dbias.data, biases.data, blocks, spec.width, 0, spec.width, spec.accumulate_bias);
          }};
}

}  // namespace rankscope::kernels::cpu
