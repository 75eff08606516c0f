// Stochastic gradient descent: p -= rate·(g + λ·p). No state.
#include "engine/optimizer/rule/rules.hpp"

namespace rankscope::rules {
namespace {

PreparedUpdate prepare(const kernels::KernelSet& set, const UpdateTarget& target, const HyperParameters&) {
  auto kernel = set.prepare(&kernels::KernelSet::sgd_update, spec_of(target));
  return {kernel.workspace_bytes, [launch = std::move(kernel.launch)](const UpdateViews& of, const UpdateStep& step,
                                                                      const kernels::Stream& stream) {
            launch(of.parameter, of.master, of.gradient, {step.learning_rate, step.weight_decay, step.gradient_scale},
                   stream);
          }};
}

}  // namespace

OptimizerRule sgd() {
  return {.name = "sgd",
          .what = "stochastic gradient descent",
          .defaults = {.weight_decay = 0.0},
          .states = [](const UpdateTarget&) { return std::vector<StateSpec>{}; },
          .prepare = prepare};
}

}  // namespace rankscope::rules
