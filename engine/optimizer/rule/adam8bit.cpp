// 8-bit Adam (Dettmers, Lewis, Shleifer and Zettlemoyer 2022, arXiv 2110.02861): AdamW whose moments are kept as a byte
// an element, quantised by dynamic trees within blocks of 256 elements of the flattened tensor, each with a scale.
// States: 2 + 8/256 bytes a parameter (fp32) instead of 8. Tensors of fewer than 4096 elements (norms, biases) keep
// moments in full, as the paper's own software does: they are next to nothing, and what they hold is touchy.
#include "engine/optimizer/rule/rules.hpp"

namespace rankscope::rules {
namespace {

constexpr std::int64_t least_quantised = 4096;

bool quantised(const UpdateTarget& target) { return target.tensor_elements >= least_quantised; }

std::vector<StateSpec> states(const UpdateTarget& target) {
  if (!quantised(target)) return two_moments(target);
  const std::int64_t blocks = (target.shape.elements() + kernels::quantised_block - 1) / kernels::quantised_block;
  return {{"m", DType::u8, target.shape},
          {"v", DType::u8, target.shape},
          {"m_scale", target.wide, {blocks}},
          {"v_scale", target.wide, {blocks}}};
}

PreparedUpdate prepare(const kernels::KernelSet& set, const UpdateTarget& target, const HyperParameters& hyper) {
  if (!quantised(target)) return prepare_adam(&kernels::KernelSet::adamw_update, set, target, hyper);
  auto kernel = set.prepare(&kernels::KernelSet::adam8bit_update, spec_of(target));
  return {kernel.workspace_bytes, [launch = std::move(kernel.launch), hyper](
                                      const UpdateViews& of, const UpdateStep& step, const kernels::Stream& stream) {
            launch(of.parameter, of.master, of.states[0], of.states[1], of.states[2], of.states[3], of.gradient,
                   adam_step(step, hyper), stream);
          }};
}

}  // namespace

OptimizerRule adam8bit() {
  return {.name = "adam8bit",
          .what = "AdamW with moments of a byte an element (Dettmers et al. 2022)",
          .defaults = {.weight_decay = 0.0, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8},
          .grain = kernels::quantised_block,
          // A second moment may be rounded to 0 beside a first that is not: then this alone divides.
          .parity_epsilon = 1e-6,
          .states = states,
          .together = update_together<adam_step, kernels::UpdateRule::adam8bit>,
          .prepare = prepare};
}

}  // namespace rankscope::rules
