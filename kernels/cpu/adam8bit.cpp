// AdamW with moments of a byte an element, a block of 256 at a time.
#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {

Prepared<View, View, View, View, View, View, View, AdamStep> adam8bit_update(const UpdateSpec& spec,
                                                                             const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View parameter, View master, View m, View v, View m_scale,
                                                       View v_scale, View gradient, AdamStep step, const Stream&) {
            const UpdateNumbers numbers = read_now(numbers_of(step));
            parallel_for(threads, blocks_of(spec.elements, quantised_block),
                         [&](std::int64_t first, std::int64_t last, int) {
                           const std::int64_t from = first * quantised_block;
                           const std::int64_t to = std::min(spec.elements, last * quantised_block);
                           const QuantisedStretch stretch{
                               at(parameter, from),         spec.master ? at_or_null(master, from) : nullptr,
                               at(gradient, from),          m.as<std::uint8_t>() + from,
                               v.as<std::uint8_t>() + from, at(m_scale, first),
                               at(v_scale, first)};
                           loops.adam8bit(stretch, to - from, numbers);
                         });
          }};
}

}  // namespace rankscope::kernels::cpu
