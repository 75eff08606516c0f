// The optimizers, one value each: which states a parameter needs, which keys it takes, and its update.
//
// To add one: write its file in this folder (a function that returns an OptimizerRule), declare it in rules.hpp, and
// give it a row in rule.cpp. A new hyper-parameter is a member of HyperParameters and a row of
// engine/scenario/keys.cpp. Programs, memory, costs, the keys' checks and verify follow from the rule;
// tests/engine/optimizer checks its numbers.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/optimizer/rule/hyper_parameters.hpp"
#include "kernels/kernel_set.hpp"
#include "kernels/tensor/type.hpp"
#include "kernels/tensor/view.hpp"
#include "kernels/update_numbers.hpp"

namespace rankscope {

/// A parameter, or a stretch of one, as its update sees it.
struct UpdateTarget {
  DType type = DType::f32;           ///< of the parameter
  DType wide = DType::f32;           ///< of gradients, masters and states: fp64 for fp64, else fp32
  Shape shape;                       ///< of what is updated here
  std::int64_t tensor_elements = 0;  ///< of the whole tensor, which `shape` may be a stretch of
  bool master() const { return wide != type; }

  static UpdateTarget whole(DType type, DType wide, const Shape& shape) {
    return {type, wide, shape, shape.elements()};
  }
};

/// A buffer that an optimizer keeps beside a parameter. All begin as zero, but for the master.
struct StateSpec {
  std::string name;  ///< "master", "m", "v", …
  DType type = DType::f32;
  Shape shape;
  bool operator==(const StateSpec&) const = default;
};

/// What an update reads and writes. `master` is empty when there is none; `states` are the rule's own, in its order.
struct UpdateViews {
  View parameter, master, gradient;
  std::vector<View> states;
  bool decays = true;
  /// Empty for one that there is not.
  View state(std::size_t i) const { return i < states.size() ? states[i] : View{}; }
};

/// What differs from step to step, and from parameter to parameter.
struct UpdateStep {
  double learning_rate = 0;
  double weight_decay = 0;             ///< 0 for parameters that do not decay
  kernels::Factor gradient_scale = 1;  ///< the clip coefficient
  std::uint64_t t = 1;                 ///< counted from 1
  std::int64_t batch = 1;              ///< tokens of the step, over all ranks: gradients are means over them
};

struct PreparedUpdate {
  std::int64_t workspace_bytes = 0;
  std::function<void(const UpdateViews&, const UpdateStep&, const kernels::Stream&)> launch;
};

/// The same of many, each with its decay or without.
struct PreparedUpdates {
  std::int64_t workspace_bytes = 0;
  std::function<void(const UpdateStep&, const kernels::Stream&)> launch;
};

struct OptimizerRule {
  std::string_view name;     ///< of train.optimizer
  std::string_view what;     ///< one phrase, with the source of the formula
  HyperParameters defaults;  ///< the keys it takes
  /// Where ranks may cut a parameter so that each updates its own stretch of the flattened elements and the numbers
  /// stay the same: 1 anywhere (every element is on its own), n > 1 before every n-th element, 0 nowhere.
  std::int64_t grain = 1;
  /// Times that gradients and parameters are read from memory in an update: for its cost.
  int gradient_passes = 1, parameter_passes = 1;
  /// An `epsilon` with which a gradient of nothing but rounding is not enlarged more than 10^6 times, and what is
  /// rounding in the gradients stays rounding in the update: verify compares plans with at least this one.
  double parity_epsilon = 0;
  /// The rule's own states of a target (without the master), in the order of UpdateViews::states.
  std::vector<StateSpec> (*states)(const UpdateTarget& target) = nullptr;
  /// All tensors of one type in as many launches as one takes; no launch where the set has none for that.
  PreparedUpdates (*together)(const kernels::KernelSet& set, std::span<const UpdateViews> tensors,
                              const HyperParameters& hyper) = nullptr;
  /// Throws kernels::Unsupported when the set lacks the op. `hyper` is resolved against `defaults`.
  PreparedUpdate (*prepare)(const kernels::KernelSet& set, const UpdateTarget& target,
                            const HyperParameters& hyper) = nullptr;
};

/// All of them, in the order in which they are listed to people.
std::span<const OptimizerRule> optimizer_rules();
std::vector<std::string> optimizer_names();
/// Throws std::invalid_argument for a name that is not known.
const OptimizerRule& optimizer_rule(std::string_view name);

/// Every state of a target, the master (if it needs one) first.
std::vector<StateSpec> states_of(const OptimizerRule& rule, const UpdateTarget& target);

}  // namespace rankscope
