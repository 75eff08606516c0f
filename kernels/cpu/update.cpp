// The optimizers' updates.
#include <cmath>

#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {
namespace {

constexpr std::int64_t elements_per_block = 16384;

std::byte* at_or_null(const View& view, std::int64_t index) { return view.data ? at(view, index) : nullptr; }

}  // namespace

Prepared<View, View, View, SgdStep> sgd_update(const UpdateSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View parameter, View master, View gradient, SgdStep step,
                                                       const Stream&) {
            UpdateNumbers numbers{};
            numbers.learning_rate = step.learning_rate;
            numbers.weight_decay = step.weight_decay;
            numbers.gradient_scale = step.gradient_scale;
            parallel_for(threads, blocks_of(spec.elements, elements_per_block),
                         [&](std::int64_t first, std::int64_t last, int) {
                           const std::int64_t from = first * elements_per_block;
                           const std::int64_t to = std::min(spec.elements, last * elements_per_block);
                           loops.sgd(at(parameter, from), spec.master ? at_or_null(master, from) : nullptr,
                                     at(gradient, from), to - from, numbers);
                         });
          }};
}

Prepared<View, View, View, View, View, AdamStep> adamw_update(const UpdateSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View parameter, View master, View m, View v, View gradient,
                                                       AdamStep step, const Stream&) {
            const double t = static_cast<double>(step.t);
            const UpdateNumbers numbers{step.learning_rate,
                                        step.weight_decay,
                                        step.beta1,
                                        step.beta2,
                                        step.epsilon,
                                        step.gradient_scale,
                                        1 - std::pow(step.beta1, t),
                                        1 - std::pow(step.beta2, t)};
            parallel_for(threads, blocks_of(spec.elements, elements_per_block),
                         [&](std::int64_t first, std::int64_t last, int) {
                           const std::int64_t from = first * elements_per_block;
                           const std::int64_t to = std::min(spec.elements, last * elements_per_block);
                           loops.adamw(at(parameter, from), spec.master ? at_or_null(master, from) : nullptr,
                                       at(m, from), at(v, from), at(gradient, from), to - from, numbers);
                         });
          }};
}

}  // namespace rankscope::kernels::cpu
