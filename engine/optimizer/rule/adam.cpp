// Adam (Kingma and Ba 2015, arXiv 1412.6980): p -= rate·m̂ / (√v̂ + ε), with g + λ·p as g. Two states: 8 bytes a
// parameter (fp32).
#include "engine/optimizer/rule/rules.hpp"

namespace rankscope::rules {

std::vector<StateSpec> two_moments(const UpdateTarget& target) { return {like(target, "m"), like(target, "v")}; }

kernels::AdamStep adam_step(const UpdateStep& step, const HyperParameters& hyper) {
  return {step.learning_rate, step.weight_decay,   *hyper.beta1, *hyper.beta2,
          *hyper.epsilon,     step.gradient_scale, step.t};
}

PreparedUpdate prepare_adam(AdamOp kernels::KernelSet::*op, const kernels::KernelSet& set, const UpdateTarget& target,
                            const HyperParameters& hyper) {
  auto kernel = set.prepare(op, spec_of(target));
  return {kernel.workspace_bytes, [launch = std::move(kernel.launch), hyper](
                                      const UpdateViews& of, const UpdateStep& step, const kernels::Stream& stream) {
            launch(of.parameter, of.master, of.states[0], of.states[1], of.gradient, adam_step(step, hyper), stream);
          }};
}

OptimizerRule adam() {
  return {.name = "adam",
          .what = "Adam, decay added to the gradient (Kingma and Ba 2015)",
          .defaults = {.weight_decay = 0.0, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8},
          .parity_epsilon = 1e-6,
          .states = two_moments,
          .together = update_together<adam_step, kernels::UpdateRule::adam>,
          .prepare = [](const kernels::KernelSet& set, const UpdateTarget& target, const HyperParameters& hyper) {
            return prepare_adam(&kernels::KernelSet::adam_update, set, target, hyper);
          }};
}

}  // namespace rankscope::rules
