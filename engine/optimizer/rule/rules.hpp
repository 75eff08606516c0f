// The rules by name, for the table, and what several of them share. Internal to the folder.
#pragma once
#include "engine/optimizer/rule/rule.hpp"

namespace rankscope::rules {

OptimizerRule sgd();
OptimizerRule momentum();
OptimizerRule adagrad();
OptimizerRule adam();
OptimizerRule adamw();
OptimizerRule radam();
OptimizerRule adafactor();
OptimizerRule adam8bit();
OptimizerRule sophia();

/// A state like the parameter, in the wide type.
inline StateSpec like(const UpdateTarget& target, const char* name) { return {name, target.wide, target.shape}; }

inline kernels::UpdateSpec spec_of(const UpdateTarget& target) {
  return {.type = target.type, .elements = target.shape.elements(), .master = target.master()};
}

/// OptimizerRule::together of a rule whose elements, or blocks of them, are each on their own, and whose kernels are
/// told step_of(step, hyper). States are at most two, and their scales.
template <auto step_of, kernels::UpdateRule rule>
PreparedUpdates update_together(const kernels::KernelSet& set, std::span<const UpdateViews> tensors,
                                const HyperParameters& hyper) {
  if (set.updates.make == nullptr) return {};
  kernels::UpdatesSpec spec{rule, tensors.front().parameter.type, {}};
  for (const UpdateViews& of : tensors)
    spec.tensors.push_back(
        {of.parameter, of.master, of.state(0), of.state(1), of.gradient, of.decays, of.state(2), of.state(3)});
  auto kernel = set.prepare(&kernels::KernelSet::updates, spec);
  return {kernel.workspace_bytes,
          [launch = std::move(kernel.launch), hyper](const UpdateStep& step, const kernels::Stream& stream) {
            launch(kernels::numbers_of(step_of(step, hyper)), stream);
          }};
}

/// Adam's family in the wide type: both moments.
std::vector<StateSpec> two_moments(const UpdateTarget& target);
using AdamOp = kernels::OpEntry<kernels::UpdateSpec, View, View, View, View, View, kernels::AdamStep>;
PreparedUpdate prepare_adam(AdamOp kernels::KernelSet::*op, const kernels::KernelSet& set, const UpdateTarget& target,
                            const HyperParameters& hyper);
kernels::AdamStep adam_step(const UpdateStep& step, const HyperParameters& hyper);

}  // namespace rankscope::rules
