// AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101): Adam whose decay, p -= rate·λ·p, stands apart from the
// gradient. Two states: 8 bytes a parameter (fp32).
#include "engine/optimizer/rule/rules.hpp"

namespace rankscope::rules {

OptimizerRule adamw() {
  return {.name = "adamw",
          .what = "Adam with decay apart from the gradient (Loshchilov and Hutter 2019)",
          .defaults = {.weight_decay = 0.01, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8},
          .parity_epsilon = 1e-6,
          .states = two_moments,
          .together = update_together<adam_step, kernels::UpdateRule::adamw>,
          .prepare = [](const kernels::KernelSet& set, const UpdateTarget& target, const HyperParameters& hyper) {
            return prepare_adam(&kernels::KernelSet::adamw_update, set, target, hyper);
          }};
}

}  // namespace rankscope::rules
