// SGD with momentum (Polyak 1964; Sutskever et al. 2013), as PyTorch writes it: b = μ·b + g + λ·p, and p -= rate·b, or
// with Nesterov's look ahead p -= rate·(g + λ·p + μ·b). One state: 4 bytes a parameter (fp32).
#include "engine/optimizer/rule/rules.hpp"

namespace rankscope::rules {
namespace {

kernels::MomentumStep step_of(const UpdateStep& step, const HyperParameters& hyper) {
  return {step.learning_rate, step.weight_decay, *hyper.momentum, *hyper.nesterov, step.gradient_scale};
}

PreparedUpdate prepare(const kernels::KernelSet& set, const UpdateTarget& target, const HyperParameters& hyper) {
  auto kernel = set.prepare(&kernels::KernelSet::momentum_update, spec_of(target));
  return {kernel.workspace_bytes, [launch = std::move(kernel.launch), hyper](
                                      const UpdateViews& of, const UpdateStep& step, const kernels::Stream& stream) {
            launch(of.parameter, of.master, of.states[0], of.gradient, step_of(step, hyper), stream);
          }};
}

}  // namespace

OptimizerRule momentum() {
  return {.name = "momentum",
          .what = "SGD with momentum, Nesterov's if asked (Polyak 1964; Sutskever et al. 2013)",
          .defaults = {.weight_decay = 0.0, .momentum = 0.9, .nesterov = false},
          .states = [](const UpdateTarget& target) { return std::vector{like(target, "b")}; },
          .together = update_together<step_of, kernels::UpdateRule::momentum>,
          .prepare = prepare};
}

}  // namespace rankscope::rules
