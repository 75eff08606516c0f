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

/// OptimizerRule::elementwise of a rule whose kernels are told step_of(step, hyper).
template <auto step_of>
OptimizerRule::Elementwise elementwise(kernels::UpdateRule rule) {
  return {rule, [](const UpdateStep& step, const HyperParameters& hyper) {
            return kernels::numbers_of(step_of(step, hyper));
          }};
}

/// Adam's family in the wide type: both moments.
std::vector<StateSpec> two_moments(const UpdateTarget& target);
using AdamOp = kernels::OpEntry<kernels::UpdateSpec, View, View, View, View, View, kernels::AdamStep>;
PreparedUpdate prepare_adam(AdamOp kernels::KernelSet::*op, const kernels::KernelSet& set, const UpdateTarget& target,
                            const HyperParameters& hyper);
kernels::AdamStep adam_step(const UpdateStep& step, const HyperParameters& hyper);

}  // namespace rankscope::rules
