// Stochastic gradient descent: p -= rate·(g + λ·p). No state.
#include "engine/optimizer/rule/rules.hpp"

namespace rankscope::rules {
namespace {

kernels::SgdStep step_of(const UpdateStep& step, const HyperParameters&) {
  return {step.learning_rate, step.weight_decay, step.gradient_scale};
}

PreparedUpdate prepare(const kernels::KernelSet& set, const UpdateTarget& target, const HyperParameters& hyper) {
  auto kernel = set.prepare(&kernels::KernelSet::sgd_update, spec_of(target));
  return {kernel.workspace_bytes, [launch = std::move(kernel.launch), hyper](
                                      const UpdateViews& of, const UpdateStep& step, const kernels::Stream& stream) {
            launch(of.parameter, of.master, of.gradient, step_of(step, hyper), stream);
          }};
}

}  // namespace

OptimizerRule sgd() {
  return {.name = "sgd",
          .what = "stochastic gradient descent",
          .defaults = {.weight_decay = 0.0},
          .states = [](const UpdateTarget&) { return std::vector<StateSpec>{}; },
          .together = update_together<step_of, kernels::UpdateRule::sgd>,
          .prepare = prepare};
}

}  // namespace rankscope::rules
