// Adagrad (Duchi, Hazan and Singer 2011), the diagonal form: s += g², p -= rate·g / (√s + ε), with g + λ·p as g. One
// state: 4 bytes a parameter (fp32).
#include "engine/optimizer/rule/rules.hpp"

namespace rankscope::rules {
namespace {

kernels::AdagradStep step_of(const UpdateStep& step, const HyperParameters& hyper) {
  return {step.learning_rate, step.weight_decay, *hyper.epsilon, step.gradient_scale};
}

PreparedUpdate prepare(const kernels::KernelSet& set, const UpdateTarget& target, const HyperParameters& hyper) {
  auto kernel = set.prepare(&kernels::KernelSet::adagrad_update, spec_of(target));
  return {kernel.workspace_bytes, [launch = std::move(kernel.launch), hyper](
                                      const UpdateViews& of, const UpdateStep& step, const kernels::Stream& stream) {
            launch(of.parameter, of.master, of.states[0], of.gradient, step_of(step, hyper), stream);
          }};
}

}  // namespace

OptimizerRule adagrad() {
  return {.name = "adagrad",
          .what = "Adagrad (Duchi, Hazan and Singer 2011)",
          .defaults = {.weight_decay = 0.0, .epsilon = 1e-10},
          .parity_epsilon = 1e-6,
          .states = [](const UpdateTarget& target) { return std::vector{like(target, "s")}; },
          .together = update_together<step_of, kernels::UpdateRule::adagrad>,
          .prepare = prepare};
}

}  // namespace rankscope::rules
