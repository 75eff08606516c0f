// The op `update` of kernels/kernel_set.hpp: optimizers' rules, their tensors, and their arguments. The rules'
// mathematics: kernels/update_rules.hpp. To add a rule: name it here, write its structure there, and add a row in
// engine/plan/optimizer_rule.
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

/// Elements that share one scale in adam8bit's states: m and v are one byte per element, block b of a flattened tensor
/// is elements [256·b, 256·(b + 1)), each byte an index into the 256 levels of dynamic tree quantisation between -1 (v:
/// 0) and 1 (kernels/quantised_levels.hpp), times the block's scale, its greatest magnitude (fp32; fp64 of fp64). The
/// update itself uses m and v before they are rounded.
inline constexpr std::int64_t quantised_block = 256;

/// The shape of a tensor for Adafactor: a matrix of all axes but the last by the last, which is factored, or a vector.
struct FactoredShape {
  bool factored = false;
  std::int64_t rows = 1, columns = 0;
  explicit FactoredShape(const Shape& shape)
      : factored(shape.rank >= 2),
        rows(factored ? shape.elements() / shape[shape.rank - 1] : 1),
        columns(factored ? shape[shape.rank - 1] : shape.elements()) {}
};

/// One tensor of an update. With a master (fp32, of a 16-bit parameter) the master is updated and the parameter is the
/// rounded master; else `master` is empty. Gradients and states are fp32 (fp64 of fp64 parameters).
struct UpdateOperand {
  View parameter, master, gradient;
  /// sgd: none. momentum, lars: b. adagrad: s. adam, adamw, radam, lamb: m, v. sophia: m, h. adafactor: means by row
  /// and by column if factored, v for a vector. adam8bit: m, v, and if those are bytes the scales of m and v, one per
  /// block; otherwise the tensor is updated by adamw.
  std::array<View, 4> states{};
  bool decays = true;  ///< else the step's weight decay is not applied
  bool quantised() const { return states[2].data != nullptr; }
  /// lars, lamb: the step is relative to the tensor's norm. Vectors (biases, norms) use the plain step, as in the
  /// software of both papers.
  bool relative() const { return parameter.shape.rank >= 2; }
};

/// Addresses are part of the specification: preparing may keep a table of them in the device's memory.
struct UpdateSpec {
  UpdateRule rule = UpdateRule::adamw;
  DType type = DType::f32;  ///< of all parameters
  std::vector<UpdateOperand> tensors{};
};

/// A launch argument times a number that is read when the launch runs: a value computed by a GPU is in its own memory,
/// which the enqueuing host does not read.
struct Factor {
  double value = 1;
  const double* at = nullptr;  ///< in the memory of the set's device; null: 1
  constexpr Factor(double given = 1, const double* there = nullptr) : value(given), at(there) {}
  /// For sets that run on the calling thread.
  double now() const { return at != nullptr ? value * *at : value; }
};

/// The arguments of an update's launch; each rule uses its own.
struct UpdateStep {
  double learning_rate = 0, weight_decay = 0;
  Factor gradient_scale = 1;  ///< gradients are first multiplied by it: the clip coefficient
  std::uint64_t t = 1;        ///< counted from 1
  double batch = 1;           ///< number of terms in the gradient's mean
  double momentum = 0.9;
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double beta2_decay = 0.8, epsilon2 = 1e-3, update_clip = 1;
  double gamma = 0.05;
  double trust = 0.001;
  int hessian_interval = 1;
};

/// The factor for gradients of that global square norm; 1 if `clip` is 0.
inline double clip_coefficient(double square_norm, double clip) {
  return clip > 0 ? std::min(1.0, clip / (std::sqrt(square_norm) + 1e-6)) : 1.0;
}

}  // namespace rankscope::kernels
