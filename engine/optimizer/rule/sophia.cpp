// Sophia's clipped step (Liu, Li, Hall, Liang and Ma 2024, arXiv 2305.14342, algorithm 3), with another estimator of
// the curvature than the paper's. Sophia-G estimates the diagonal of the Gauss-Newton matrix, every k steps, from the
// gradient ĝ of an extra backward on labels that are drawn from the model (Gauss-Newton-Bartlett: B·ĝ⊙ĝ, B terms in the
// mean). Programs here have no extra backward, so ĝ is the step's own gradient, on the true labels: the *empirical
// Fisher*, which the paper compares with as "E-F" and finds weaker. What is clipped, averaged and divided is the same.
//
//   m = β1·m + (1-β1)·g;  every k-th step h = β2·h + (1-β2)·B·g²;  p -= rate·(λ·p + clip(m / max(γ·h, ε), -1, 1))
//
// B is the tokens of a step. Clipping gradients by their norm scales g in both. Two states: 8 bytes a parameter (fp32).
#include "engine/optimizer/rule/rules.hpp"

namespace rankscope::rules {
namespace {

kernels::SophiaStep step_of(const UpdateStep& step, const HyperParameters& hyper) {
  const bool refresh = (step.t - 1) % static_cast<std::uint64_t>(*hyper.hessian_interval) == 0;
  return {step.learning_rate,
          step.weight_decay,
          *hyper.beta1,
          *hyper.beta2,
          *hyper.gamma,
          *hyper.epsilon,
          step.gradient_scale,
          static_cast<double>(step.batch),
          refresh};
}

PreparedUpdate prepare(const kernels::KernelSet& set, const UpdateTarget& target, const HyperParameters& hyper) {
  auto kernel = set.prepare(&kernels::KernelSet::sophia_update, spec_of(target));
  return {kernel.workspace_bytes, [launch = std::move(kernel.launch), hyper](
                                      const UpdateViews& of, const UpdateStep& step, const kernels::Stream& stream) {
            launch(of.parameter, of.master, of.states[0], of.states[1], of.gradient, step_of(step, hyper), stream);
          }};
}

}  // namespace

OptimizerRule sophia() {
  return {
      .name = "sophia",
      .what =
          "Sophia's clipped step with the empirical Fisher as curvature, not Sophia-G's sampled labels (after Liu "
          "et al. 2024)",
      .defaults =
          {.weight_decay = 0.1, .beta1 = 0.96, .beta2 = 0.99, .epsilon = 1e-12, .gamma = 0.05, .hessian_interval = 10},
      // It divides a mean of gradients by this, not by their size: of what is not clipped, every rounding counts 1/ε.
      .parity_epsilon = 1e-6,
      .states =
          [](const UpdateTarget& target) {
            return std::vector{like(target, "m"), like(target, "h")};
          },
      .together = update_together<step_of, kernels::UpdateRule::sophia>,
      .prepare = prepare};
}

}  // namespace rankscope::rules
