// RAdam (Liu et al. 2020, arXiv 1908.03265): Adam that takes plain steps of the first moment until the second moment is
// of enough gradients to divide by, and rectified ones from then on. Two states: 8 bytes a parameter (fp32).
#include "engine/optimizer/rule/rules.hpp"

namespace rankscope::rules {

OptimizerRule radam() {
  return {.name = "radam",
          .what = "Adam with a rectified second moment (Liu et al. 2020)",
          .defaults = {.weight_decay = 0.0, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8},
          .parity_epsilon = 1e-6,
          .states = two_moments,
          .together = update_together<adam_step, kernels::UpdateRule::radam>,
          .prepare = [](const kernels::KernelSet& set, const UpdateTarget& target, const HyperParameters& hyper) {
            return prepare_adam(&kernels::KernelSet::radam_update, set, target, hyper);
          }};
}

}  // namespace rankscope::rules
