// GELU (tanh form) and its slope: the epilogues of products.
#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {

Prepared<View, View> gelu(const ElementwiseSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View y, View x, const Stream&) {
            parallel_for(threads, spec.rows, [&](std::int64_t first, std::int64_t last, int) {
              loops.gelu_forward(at(y, first * spec.width), at(x, first * spec.width), (last - first) * spec.width);
            });
          }};
}

Prepared<View, View, View> gelu_slope(const ElementwiseSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View dx, View dy, View x, const Stream&) {
            parallel_for(threads, spec.rows, [&](std::int64_t first, std::int64_t last, int) {
              const std::int64_t from = first * spec.width;
              loops.gelu_slope(at(dx, from), at(dy, from), at(x, from), (last - first) * spec.width);
            });
          }};
}

}  // namespace rankscope::kernels::cpu
