// The updates of optimizers whose elements are each on their own.
#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {
namespace {

constexpr std::int64_t elements_per_block = 16384;

/// One loop over a parameter, cut over the threads.
class ElementUpdate {
 public:
  ElementUpdate(const UpdateSpec& spec, const Options& options, UpdateLoop Loops::*loop)
      : loop_(loops_for(spec.type, options).*loop), spec_(spec), threads_(options.threads) {}

  /// Missing states are empty views.
  void operator()(const View& parameter, const View& master, const View& first, const View& second,
                  const View& gradient, const UpdateNumbers& told) const {
    const UpdateNumbers numbers = read_now(told);
    parallel_for(threads_, blocks_of(spec_.elements, elements_per_block),
                 [&](std::int64_t first_block, std::int64_t last_block, int) {
                   const std::int64_t from = first_block * elements_per_block;
                   const std::int64_t to = std::min(spec_.elements, last_block * elements_per_block);
                   const UpdateStretch stretch{at(parameter, from),
                                               spec_.master ? at_or_null(master, from) : nullptr,
                                               at(gradient, from),
                                               {at_or_null(first, from), at_or_null(second, from)}};
                   loop_(stretch, to - from, numbers);
                 });
  }

 private:
  UpdateLoop loop_;
  UpdateSpec spec_;
  int threads_;
};

Prepared<View, View, View, View, View, AdamStep> adam_like(const UpdateSpec& spec, const Options& options,
                                                           UpdateLoop Loops::*loop) {
  return {0, [update = ElementUpdate(spec, options, loop)](View parameter, View master, View m, View v, View gradient,
                                                           AdamStep step, const Stream&) {
            update(parameter, master, m, v, gradient, numbers_of(step));
          }};
}

}  // namespace

Prepared<View, View, View, SgdStep> sgd_update(const UpdateSpec& spec, const Options& options) {
  return {0, [update = ElementUpdate(spec, options, &Loops::sgd)](View parameter, View master, View gradient,
                                                                  SgdStep step, const Stream&) {
            update(parameter, master, {}, {}, gradient, numbers_of(step));
          }};
}

Prepared<View, View, View, View, MomentumStep> momentum_update(const UpdateSpec& spec, const Options& options) {
  return {0, [update = ElementUpdate(spec, options, &Loops::momentum)](
                 View parameter, View master, View buffer, View gradient, MomentumStep step, const Stream&) {
            update(parameter, master, buffer, {}, gradient, numbers_of(step));
          }};
}

Prepared<View, View, View, View, AdagradStep> adagrad_update(const UpdateSpec& spec, const Options& options) {
  return {0, [update = ElementUpdate(spec, options, &Loops::adagrad)](View parameter, View master, View sum,
                                                                      View gradient, AdagradStep step, const Stream&) {
            update(parameter, master, sum, {}, gradient, numbers_of(step));
          }};
}

Prepared<View, View, View, View, View, AdamStep> adam_update(const UpdateSpec& spec, const Options& options) {
  return adam_like(spec, options, &Loops::adam);
}
Prepared<View, View, View, View, View, AdamStep> adamw_update(const UpdateSpec& spec, const Options& options) {
  return adam_like(spec, options, &Loops::adamw);
}
Prepared<View, View, View, View, View, AdamStep> radam_update(const UpdateSpec& spec, const Options& options) {
  return adam_like(spec, options, &Loops::radam);
}

Prepared<View, View, View, View, View, SophiaStep> sophia_update(const UpdateSpec& spec, const Options& options) {
  return {0, [update = ElementUpdate(spec, options, &Loops::sophia)](View parameter, View master, View m, View h,
                                                                     View gradient, SophiaStep step, const Stream&) {
            update(parameter, master, m, h, gradient, numbers_of(step));
          }};
}

}  // namespace rankscope::kernels::cpu
