// The optimizers' numbers: keys of [train] in a scenario.
#pragma once
#include <optional>

namespace rankscope {

/// The values given. An optimizer's defaults are a value of this type too: it uses only the keys that have a default.
struct HyperParameters {
  std::optional<double> weight_decay{};    ///< λ, on matrices only
  std::optional<double> momentum{};        ///< share of the last step's buffer that is kept
  std::optional<bool> nesterov{};          ///< momentum looks ahead
  std::optional<double> beta1{}, beta2{};  ///< decay of the first and the second moment
  std::optional<double> epsilon{};         ///< keeps a denominator above zero; each rule defines where
  std::optional<double> beta2_decay{};     ///< Adafactor: β2 of step t is 1 - t^-beta2_decay
  std::optional<double> epsilon2{};        ///< Adafactor: least size of a parameter used as the scale of its step
  std::optional<double> update_clip{};     ///< Adafactor: greatest root mean square of an update
  std::optional<double> gamma{};           ///< Sophia: factor on curvatures
  std::optional<int> hessian_interval{};   ///< Sophia: steps from one estimate of the curvature to the next
  std::optional<double> trust{};           ///< LARS: length of a matrix's step at a rate of 1, as a share of its norm
  bool operator==(const HyperParameters&) const = default;
};

/// For every key that has a default: the given value, else the default.
HyperParameters resolved(const HyperParameters& given, const HyperParameters& defaults);

}  // namespace rankscope
