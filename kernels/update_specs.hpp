// The specifications of optimizers' updates, and of the norms that gradients are clipped by: part of the table in
// kernel_set.hpp.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/tensor/type.hpp"
#include "kernels/tensor/view.hpp"

namespace rankscope::kernels {

/// A number that a launch is told, times one that is read when the launch runs: what a GPU has computed itself lies in
/// its own memory, where the host that enqueues does not look.
struct Factor {
  double value = 1;
  const double* at = nullptr;  ///< in the memory that the set works on; null: 1
  constexpr Factor(double told = 1, const double* there = nullptr) : value(told), at(there) {}
  /// For sets that run on the calling thread.
  double now() const { return at != nullptr ? value * *at : value; }
};

/// An optimizer's update of one parameter. With a master (fp32, of a 16-bit parameter) the master is updated and the
/// parameter is the master, rounded. Gradients and states are fp32 (fp64 of fp64 parameters). Every step below has the
/// weight decay λ (`weight_decay`) and the factor that the gradient is multiplied by first (`gradient_scale`, the clip
/// coefficient c): g = c·gradient. Decay is *coupled* when λ·p is added to the gradient (g += λ·p; L2 regularisation),
/// *decoupled* when the parameter shrinks apart from it (p -= rate·λ·p; Loshchilov and Hutter 2019). Steps t count from
/// 1.
struct UpdateSpec {
  DType type = DType::f32;  ///< of the parameter
  std::int64_t elements = 0;
  bool master = false;  ///< the parameter is rewritten from an fp32 master
};
/// p -= rate·(g + λ·p).
struct SgdStep {
  double learning_rate = 0, weight_decay = 0;
  Factor gradient_scale = 1;
};
/// Coupled. b = momentum·b + g; p -= rate·b, or with Nesterov's look ahead p -= rate·(g + momentum·b).
struct MomentumStep {
  double learning_rate = 0, weight_decay = 0, momentum = 0.9;
  bool nesterov = false;
  Factor gradient_scale = 1;
};
/// Coupled. s += g²; p -= rate·g / (√s + ε).
struct AdagradStep {
  double learning_rate = 0, weight_decay = 0, epsilon = 1e-10;
  Factor gradient_scale = 1;
};
/// m = β1·m + (1-β1)·g; v = β2·v + (1-β2)·g²; m̂ = m/(1-β1^t); v̂ = v/(1-β2^t); p -= rate·m̂ / (√v̂ + ε). adam_update:
/// coupled; adamw_update and adam8bit_update: decoupled. radam_update, coupled: ρ∞ = 2/(1-β2) - 1, ρ = ρ∞ -
/// 2t·β2^t/(1-β2^t); where ρ > 5, p -= rate·r·m̂·√(1-β2^t) / (√v + ε) with r² = (ρ-4)(ρ-2)ρ∞ / ((ρ∞-4)(ρ∞-2)ρ), and p -=
/// rate·m̂ before.
struct AdamStep {
  double learning_rate = 0, weight_decay = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  Factor gradient_scale = 1;
  std::uint64_t t = 1;
};
/// Decoupled. m = β1·m + (1-β1)·g; if `refresh`, h = β2·h + (1-β2)·batch·g²; p -= rate·clip(m / max(γ·h, ε), -1, 1).
struct SophiaStep {
  double learning_rate = 0, weight_decay = 0, beta1 = 0.96, beta2 = 0.99, gamma = 0.05, epsilon = 1e-12;
  Factor gradient_scale = 1;
  double batch = 1;  ///< terms that the gradient is the mean of
  bool refresh = true;
};

/// A matrix's row and column means of squared gradients stand for its second moments; a vector (rows = 1, not factored)
/// has its own in `column`.
struct AdafactorSpec {
  DType type = DType::f32;  ///< of the parameter
  std::int64_t rows = 1, columns = 0;
  bool factored = false;  ///< else rows is 1
  bool master = false;
};
/// Decoupled. β = 1 - t^-beta2_decay; R_i = β·R_i + (1-β)·mean_j(g_ij² + ε); C_j = β·C_j + (1-β)·mean_i(g_ij² + ε);
/// u_ij = g_ij / √(R_i·C_j / mean(R)), or g_j / √C_j; p -= max(epsilon2, rms(p))·min(rate, 1/√t)·u / max(1,
/// rms(u)/clip).
struct AdafactorStep {
  double learning_rate = 0, weight_decay = 0, beta2_decay = 0.8, epsilon = 1e-30, epsilon2 = 1e-3, clip = 1;
  Factor gradient_scale = 1;
  std::uint64_t t = 1;
};

/// Elements that share one scale in adam8bit_update: m and v are a byte an element, block b of a flattened tensor being
/// elements [256·b, 256·(b + 1)), each byte an index into the 256 levels of dynamic tree quantisation between -1 (v: 0)
/// and 1, times the block's scale, its greatest magnitude (fp32; fp64 of fp64). The update itself uses m and v before
/// they are rounded.
inline constexpr std::int64_t quantised_block = 256;

/// The rules above whose elements, or blocks of them, are each on their own.
enum class UpdateRule : std::uint8_t { sgd, momentum, adagrad, adam, adamw, radam, sophia, adam8bit };
/// One tensor of an update of many, as UpdateSpec has one. Without a master, and where the rule has no such state,
/// views are empty.
struct UpdateOperand {
  View parameter, master, first, second, gradient;
  bool decays = true;  ///< else the step's weight decay is not its
  /// Of adam8bit, for tensors whose moments are bytes; those without are updated by adamw.
  View first_scale{}, second_scale{};
};
struct UpdatesSpec {
  UpdateRule rule = UpdateRule::adamw;
  DType type = DType::f32;  ///< of all parameters
  std::vector<UpdateOperand> tensors;
};
struct UpdateNumbers;  // kernels/update_numbers.hpp
/// The same of Adafactor's tensors.
struct AdafactorOperand {
  View parameter, master, row, column, gradient;
  std::int64_t rows = 1, columns = 0;
  bool decays = true;
};
struct AdafactorsSpec {
  DType type = DType::f32;
  std::vector<AdafactorOperand> tensors;  ///< factored where `row` is not empty
};
struct SquareNormsSpec {
  DType type = DType::f32;
  std::vector<View> tensors;
};

}  // namespace rankscope::kernels
