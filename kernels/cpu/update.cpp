// The updates of optimizers whose elements are each on their own.
#include <cmath>

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
                  const View& gradient, const UpdateNumbers& numbers) const {
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

/// What every step has.
template <class Step>
UpdateNumbers numbers_of(const Step& step) {
  UpdateNumbers numbers;
  numbers.learning_rate = step.learning_rate;
  numbers.weight_decay = step.weight_decay;
  numbers.gradient_scale = step.gradient_scale;
  return numbers;
}

/// RAdam's r, or 0 while the second moment is of too few gradients.
double rectification(double beta2, double t) {
  const double power = std::pow(beta2, t), longest = 2 / (1 - beta2) - 1;
  const double length = longest - 2 * t * power / (1 - power);
  if (!(length > 5)) return 0;
  return std::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length));
}

Prepared<View, View, View, View, View, AdamStep> adam_like(const UpdateSpec& spec, const Options& options,
                                                           UpdateLoop Loops::*loop) {
  return {0, [update = ElementUpdate(spec, options, loop)](View parameter, View master, View m, View v, View gradient,
                                                           AdamStep step, const Stream&) {
            update(parameter, master, m, v, gradient, adam_numbers(step));
          }};
}

}  // namespace

UpdateNumbers adam_numbers(const AdamStep& step) {
  const double t = static_cast<double>(step.t);
  UpdateNumbers numbers = numbers_of(step);
  numbers.beta1 = step.beta1;
  numbers.beta2 = step.beta2;
  numbers.epsilon = step.epsilon;
  numbers.correction1 = 1 - std::pow(step.beta1, t);
  numbers.correction2 = 1 - std::pow(step.beta2, t);
  numbers.rectification = rectification(step.beta2, t);
  return numbers;
}

Prepared<View, View, View, SgdStep> sgd_update(const UpdateSpec& spec, const Options& options) {
  return {0, [update = ElementUpdate(spec, options, &Loops::sgd)](View parameter, View master, View gradient,
                                                                  SgdStep step, const Stream&) {
            update(parameter, master, {}, {}, gradient, numbers_of(step));
          }};
}

Prepared<View, View, View, View, MomentumStep> momentum_update(const UpdateSpec& spec, const Options& options) {
  return {0, [update = ElementUpdate(spec, options, &Loops::momentum)](
                 View parameter, View master, View buffer, View gradient, MomentumStep step, const Stream&) {
            UpdateNumbers numbers = numbers_of(step);
            numbers.momentum = step.momentum;
            numbers.nesterov = step.nesterov;
            update(parameter, master, buffer, {}, gradient, numbers);
          }};
}

Prepared<View, View, View, View, AdagradStep> adagrad_update(const UpdateSpec& spec, const Options& options) {
  return {0, [update = ElementUpdate(spec, options, &Loops::adagrad)](View parameter, View master, View sum,
                                                                      View gradient, AdagradStep step, const Stream&) {
            UpdateNumbers numbers = numbers_of(step);
            numbers.epsilon = step.epsilon;
            update(parameter, master, sum, {}, gradient, numbers);
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
            UpdateNumbers numbers = numbers_of(step);
            numbers.beta1 = step.beta1;
            numbers.beta2 = step.beta2;
            numbers.epsilon = step.epsilon;
            numbers.gamma = step.gamma;
            numbers.batch = step.batch;
            numbers.refresh = step.refresh;
            update(parameter, master, m, h, gradient, numbers);
          }};
}

}  // namespace rankscope::kernels::cpu
