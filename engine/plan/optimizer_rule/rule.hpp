// The optimizers, one row each: the states of a parameter, the keys that it uses, and the rule that updates it.
//
// To add one: write its mathematics (kernels/update.hpp says where) and give it a row in rule.cpp. A new
// hyper-parameter is a member of HyperParameters and of kernels::UpdateStep, and a row of
// engine/plan/scenario/keys.cpp. Programs, memory, costs, the keys' checks and verify follow from the row;
// tests/engine/execute/optimizer checks its numbers.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/optimizer_rule/hyper_parameters.hpp"
#include "kernels/tensor/type.hpp"
#include "kernels/update.hpp"

namespace rankscope {

/// A parameter, or a range of one, as input of its update.
struct UpdateTarget {
  DType type = DType::f32;           ///< of the parameter
  DType wide = DType::f32;           ///< of gradients, masters and states: fp64 for fp64, else fp32
  Shape shape;                       ///< of the part that is updated here
  std::int64_t tensor_elements = 0;  ///< of the whole tensor, of which `shape` may be a range
  bool master() const { return wide != type; }

  static UpdateTarget whole(DType type, DType wide, const Shape& shape) {
    return {type, wide, shape, shape.elements()};
  }
};

/// A buffer that an optimizer keeps beside a parameter. All start at zero, except the master.
struct StateSpec {
  std::string name;  ///< "master", "m", "v", …
  DType type = DType::f32;
  Shape shape;
  bool operator==(const StateSpec&) const = default;
};

struct OptimizerRule {
  std::string_view name;  ///< of train.optimizer
  std::string_view what;  ///< one phrase, with the source of the formula
  kernels::UpdateRule kernel = kernels::UpdateRule::sgd;
  HyperParameters defaults;  ///< the keys it uses
  /// The rule's own states of a target (without the master), in the order of kernels::UpdateOperand::states.
  std::vector<StateSpec> (*states)(const UpdateTarget& target) = nullptr;
  /// An `epsilon` with which a gradient of pure rounding error is amplified at most 10^6 times, so that
  /// rounding in the gradients stays rounding in the update: verify compares plans with at least this value.
  double parity_epsilon = 0;
  /// Where ranks may cut a parameter so that each updates its own range of the flattened elements and the numbers
  /// stay the same: 1 anywhere (elements are independent), n > 1 before every n-th element, 0 nowhere.
  std::int64_t grain = 1;
  /// Times that gradients, parameters and states are read from memory in an update: for its cost.
  int gradient_passes = 1, parameter_passes = 1, state_passes = 1;
  /// The step of a matrix is relative to the norm of that matrix (LARS, LAMB). Two separate numbers are no matrix, so
  /// no path on a surface is computed.
  bool relative = false;
};

/// All of them, in the order in which they are listed for users.
std::span<const OptimizerRule> optimizer_rules();
std::vector<std::string> optimizer_names();
/// Those that have paths on surfaces of two parameters (engine/lesson/descent): all but the relative ones.
std::vector<std::string> walking_optimizers();
/// Throws std::invalid_argument for an unknown name.
const OptimizerRule& optimizer_rule(std::string_view name);

/// Every state of a target, the master (if it needs one) first.
std::vector<StateSpec> states_of(const OptimizerRule& rule, const UpdateTarget& target);

/// The numbers of the optimizer that a launch receives.
kernels::UpdateStep step_with(const HyperParameters& hyper);

}  // namespace rankscope
