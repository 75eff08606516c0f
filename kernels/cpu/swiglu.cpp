// SwiGLU and its gradient: gate and up are the two halves of a row.
#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {

Prepared<View, View> swiglu_forward(const ElementwiseSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View y, View x, const Stream&) {
            const std::int64_t n = spec.width;
            parallel_for(threads, spec.rows, [&](std::int64_t first, std::int64_t last, int) {
              for (std::int64_t r = first; r < last; ++r)
                loops.swiglu_forward(at(y, r * n), at(x, r * 2 * n), at(x, r * 2 * n + n), n);
            });
          }};
}

Prepared<View, View, View> swiglu_backward(const ElementwiseSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View dx, View dy, View x, const Stream&) {
            const std::int64_t n = spec.width;
            parallel_for(threads, spec.rows, [&](std::int64_t first, std::int64_t last, int) {
              for (std::int64_t r = first; r < last; ++r) {
                const std::int64_t gate = r * 2 * n, up = gate + n;
                loops.swiglu_backward(at(dx, gate), at(dx, up), at(dy, r * n), at(x, gate), at(x, up), n);
              }
            });
          }};
}

}  // namespace rankscope::kernels::cpu
