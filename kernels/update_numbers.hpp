// What an optimizer's update is computed with, from what its step says: the same for every kernel set.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels {

/// A step's numbers; each rule uses its own (kernels/kernel_set.hpp).
struct UpdateNumbers {
  double learning_rate = 0, weight_decay = 0, gradient_scale = 1;
  const double* gradient_scale_at = nullptr;  ///< Factor::at, of which gradient_scale is the rest
  double beta1 = 0, beta2 = 0, epsilon = 0;
  double correction1 = 1, correction2 = 1;  ///< 1 - beta^t
  double rectification = 0;                 ///< RAdam's r; 0 while the second moment's variance is not tractable
  double momentum = 0, gamma = 0, batch = 1;
  bool nesterov = false, refresh = true;
};

/// What gradients of that global square norm are multiplied by; 1 where `clip` is 0.
inline double clip_coefficient(double square_norm, double clip) {
  return clip > 0 ? std::min(1.0, clip / (std::sqrt(square_norm) + 1e-6)) : 1.0;
}

/// The same numbers for who can read all of them: now.
inline UpdateNumbers read_now(UpdateNumbers numbers) {
  if (numbers.gradient_scale_at != nullptr) numbers.gradient_scale *= *numbers.gradient_scale_at;
  numbers.gradient_scale_at = nullptr;
  return numbers;
}

/// What every step has.
template <class Step>
UpdateNumbers common_numbers(const Step& step) {
  UpdateNumbers numbers;
  numbers.learning_rate = step.learning_rate;
  numbers.weight_decay = step.weight_decay;
  numbers.gradient_scale = step.gradient_scale.value;
  numbers.gradient_scale_at = step.gradient_scale.at;
  return numbers;
}

inline UpdateNumbers numbers_of(const SgdStep& step) { return common_numbers(step); }

inline UpdateNumbers numbers_of(const MomentumStep& step) {
  UpdateNumbers numbers = common_numbers(step);
  numbers.momentum = step.momentum;
  numbers.nesterov = step.nesterov;
  return numbers;
}

inline UpdateNumbers numbers_of(const AdagradStep& step) {
  UpdateNumbers numbers = common_numbers(step);
  numbers.epsilon = step.epsilon;
  return numbers;
}

/// RAdam's r, or 0 while the second moment is of too few gradients.
inline double rectification(double beta2, double t) {
  const double power = std::pow(beta2, t), longest = 2 / (1 - beta2) - 1;
  const double length = longest - 2 * t * power / (1 - power);
  if (!(length > 5)) return 0;
  return std::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length));
}

inline UpdateNumbers numbers_of(const AdamStep& step) {
  const double t = static_cast<double>(step.t);
  UpdateNumbers numbers = common_numbers(step);
  numbers.beta1 = step.beta1;
  numbers.beta2 = step.beta2;
  numbers.epsilon = step.epsilon;
  numbers.correction1 = 1 - std::pow(step.beta1, t);
  numbers.correction2 = 1 - std::pow(step.beta2, t);
  numbers.rectification = rectification(step.beta2, t);
  return numbers;
}

inline UpdateNumbers numbers_of(const SophiaStep& step) {
  UpdateNumbers numbers = common_numbers(step);
  numbers.beta1 = step.beta1;
  numbers.beta2 = step.beta2;
  numbers.epsilon = step.epsilon;
  numbers.gamma = step.gamma;
  numbers.batch = step.batch;
  numbers.refresh = step.refresh;
  return numbers;
}

}  // namespace rankscope::kernels
