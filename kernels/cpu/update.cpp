// The optimizers' update of parameters, one after the other, each divided over the threads.
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/stretch.hpp"

namespace rankscope::kernels::cpu {
Prepared<UpdateStep> update(const UpdateSpec& spec, const Options& options) {
  if (spec.rule == UpdateRule::adafactor) return adafactor_update(spec, options);
  if (has_trust_ratio(spec.rule)) return trust_update(spec, options);
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](const UpdateStep& given, const Stream&) {
            UpdateStep step = given;
            step.gradient_scale = given.gradient_scale.now();
            for (const UpdateOperand& o : spec.tensors) {
              step.weight_decay = o.decays ? given.weight_decay : 0;
              const std::int64_t elements = o.parameter.elements();
              const std::int64_t block = o.quantised() ? quantised_block : elements_per_block;
              parallel_for(threads, blocks_of(elements, block),
                           [&](std::int64_t first_block, std::int64_t last_block, int) {
                             const std::int64_t from = first_block * block;
                             const std::int64_t count = std::min(elements, last_block * block) - from;
                             if (o.quantised())
                               loops.adam8bit(stretch_of(o, from), count, step);
                             else
                               loops.update(spec.rule, stretch_of(o, from), count, step);
                           });
            }
          }};
}

}  // namespace rankscope::kernels::cpu
