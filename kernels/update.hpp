// The op `update` of kernels/kernel_set.hpp: optimizers' rules, their tensors, and their arguments. The
// rules' mathematics: kernels/update_rules.hpp. To add a rule: name it here, write its structure there, and give it a
// row in engine/plan/optimizer_rule.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/tensor/type.hpp"
#include "kernels/tensor/view.hpp"

namespace rankscope::kernels {

enum class UpdateRule : std::uint8_t {
  sgd,
  momentum,
  adagrad,
  adam,
  adamw,
  radam,
  adafactor,
  adam8bit,
  sophia,
  lars,
  lamb
};
inline constexpr int update_rule_count = 11;

/// Elements that share one scale in adam8bit's states: m and v are a byte an element, block b of a flattened tensor
/// being elements [256·b, 256·(b + 1)), each byte an index into the 256 levels of dynamic tree quantisation between -1
/// (v: 0) and 1 (kernels/quantised_levels.hpp), times the block's scale, its greatest magnitude (fp32; fp64 of fp64).
/// The update itself uses m and v before they are rounded.
inline constexpr std::int64_t quantised_block = 256;

/// A tensor as Adafactor sees it: a matrix of all axes but the last by the last, which is factored, or a vector.
struct FactoredShape {
  bool factored = false;
  std::int64_t rows = 1, columns = 0;
  explicit FactoredShape(const Shape& shape)
      : factored(shape.rank >= 2),
        rows(factored ? shape.elements() / shape[shape.rank - 1] : 1),
        columns(factored ? shape[shape.rank - 1] : shape.elements()) {}
};

/// One tensor of an update. With a master (fp32, of a 16-bit parameter) the master is updated and the parameter is the
/// master, rounded; else `master` is empty. Gradients and states are fp32 (fp64 of fp64 parameters).
struct UpdateOperand {
  View parameter, master, gradient;
  /// sgd: none. momentum, lars: b. adagrad: s. adam, adamw, radam, lamb: m, v. sophia: m, h. adafactor: means by row
  /// and by column of what is factored, v of a vector. adam8bit: m, v, and where those are bytes the scales of m and v,
  /// one a block; where they are not, the tensor is updated by adamw.
  std::array<View, 4> states{};
  bool decays = true;  ///< else the step's weight decay is not its
  bool quantised() const { return states[2].data != nullptr; }
  /// lars, lamb: the step is relative to the tensor's norm. Vectors (biases, norms) take the plain step, as in the
  /// software of both papers.
  bool relative() const { return parameter.shape.rank >= 2; }
};

/// Addresses are part of the specification: preparing may keep a table of them in the device's memory.
struct UpdateSpec {
  UpdateRule rule = UpdateRule::adamw;
  DType type = DType::f32;  ///< of all parameters
  std::vector<UpdateOperand> tensors{};
};

/// A number that a launch is told, times one that is read when the launch runs: what a GPU has computed itself lies in
/// its own memory, where the host that enqueues does not look.
struct Factor {
  double value = 1;
  const double* at = nullptr;  ///< in the memory that the set works on; null: 1
  constexpr Factor(double given = 1, const double* there = nullptr) : value(given), at(there) {}
  /// For sets that run on the calling thread.
  double now() const { return at != nullptr ? value * *at : value; }
};

/// The arguments of an update's launch; each rule uses its own.
struct UpdateStep {
  double learning_rate = 0, weight_decay = 0;
  Factor gradient_scale = 1;  ///< what gradients are multiplied by first: the clip coefficient
  std::uint64_t t = 1;        ///< counted from 1
  double batch = 1;           ///< terms that the gradient is the mean of
  double momentum = 0.9;
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double beta2_decay = 0.8, epsilon2 = 1e-3, update_clip = 1;
  double gamma = 0.05;
  double trust = 0.001;
  int hessian_interval = 1;
};

/// What gradients of that global square norm are multiplied by; 1 where `clip` is 0.
inline double clip_coefficient(double square_norm, double clip) {
  return clip > 0 ? std::min(1.0, clip / (std::sqrt(square_norm) + 1e-6)) : 1.0;
}

}  // namespace rankscope::kernels
