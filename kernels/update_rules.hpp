// The mathematics of the optimizers, once for every kernel set.
//
// A rule is a template over Math, which defines its arithmetic:
//
//   Math::Scalar               float or double
//   Math::Number               the type of elements in computations: a Scalar on a GPU, a vector of them on the CPU
//   Math::fused(a, b, c)       a·b + c with one rounding if the machine supports that; a may be a Scalar
//   Math::root(x)              √x
//
// It computes its coefficients from a step's numbers, and next(p, g, state) changes the states of an element and
// returns its new parameter. Contraction is explicit, fused(a, b, c), and files that include this are compiled without
// automatic contraction: a shard's result is bit-identical to that of the complete tensor, and a GPU's to the CPU's.
//
// c is the step's gradient_scale and λ its weight decay. Decay is *coupled* if λ·p is added to the gradient (L2
// regularisation), *decoupled* if the parameter shrinks separately (p -= rate·λ·p; Loshchilov and Hutter 2019).
// Decoupled decay is not computed as p·(1 - rate·λ): in fp32 the difference from 1 would keep two digits.
#pragma once
#include <cmath>
#include <type_traits>

#include "kernels/tensor/host_device.hpp"
#include "kernels/update.hpp"

namespace rankscope::kernels {

/// p -= rate·(c·g + λ·p).
template <class Math>
struct Sgd {
  using A = typename Math::Scalar;
  using N = typename Math::Number;
  static constexpr int states = 0;
  A decay, rate;
  explicit Sgd(const UpdateStep& s)
      : decay(static_cast<A>(s.learning_rate * s.weight_decay)),
        rate(static_cast<A>(s.learning_rate * s.gradient_scale.value)) {}
  RANKSCOPE_HOST_DEVICE N next(N p, N g, N (&)[2]) const { return p - Math::fused(decay, p, rate * g); }
};

/// SGD with momentum (Polyak 1964; Sutskever et al. 2013) as in PyTorch, coupled: g = c·g + λ·p; b = momentum·b + g; p
/// -= rate·b, or with Nesterov's look-ahead p -= rate·(g + momentum·b).
template <class Math>
struct Momentum {
  using A = typename Math::Scalar;
  using N = typename Math::Number;
  static constexpr int states = 1;
  A decay, clip, kept, rate, of_gradient, of_buffer;
  explicit Momentum(const UpdateStep& s)
      : decay(static_cast<A>(s.weight_decay)),
        clip(static_cast<A>(s.gradient_scale.value)),
        kept(static_cast<A>(s.momentum)),
        rate(static_cast<A>(s.learning_rate)),
        of_gradient(s.nesterov ? A(1) : A(0)),
        of_buffer(s.nesterov ? kept : A(1)) {}
  RANKSCOPE_HOST_DEVICE N next(N p, N raw, N (&state)[2]) const {
    const N g = Math::fused(clip, raw, decay * p);
    state[0] = Math::fused(kept, state[0], g);
    return Math::fused(-rate, Math::fused(of_gradient, g, of_buffer * state[0]), p);
  }
};

/// Adagrad (Duchi, Hazan and Singer 2011), the diagonal form, coupled: g = c·g + λ·p; s += g²; p -= rate·g / (√s + ε).
template <class Math>
struct Adagrad {
  using A = typename Math::Scalar;
  using N = typename Math::Number;
  static constexpr int states = 1;
  A decay, clip, rate, epsilon;
  explicit Adagrad(const UpdateStep& s)
      : decay(static_cast<A>(s.weight_decay)),
        clip(static_cast<A>(s.gradient_scale.value)),
        rate(static_cast<A>(s.learning_rate)),
        epsilon(static_cast<A>(s.epsilon)) {}
  RANKSCOPE_HOST_DEVICE N next(N p, N raw, N (&state)[2]) const {
    const N g = Math::fused(clip, raw, decay * p);
    state[0] = Math::fused(g, g, state[0]);
    return p - rate * g / (Math::root(state[0]) + epsilon);
  }
};

/// The moments of Adam's family: m = β1·m + (1-β1)·g; v = β2·v + (1-β2)·g². m̂ = m/(1-β1^t) and v̂ = v/(1-β2^t).
template <class Math>
struct Moments {
  using A = typename Math::Scalar;
  using N = typename Math::Number;
  A beta1, rest1, beta2, rest2;
  Moments(double of_first, double of_second)
      : beta1(static_cast<A>(of_first)),
        rest1(static_cast<A>(1 - of_first)),
        beta2(static_cast<A>(of_second)),
        rest2(static_cast<A>(1 - of_second)) {}
  RANKSCOPE_HOST_DEVICE void take(N g, N (&state)[2]) const {
    state[0] = Math::fused(beta1, state[0], rest1 * g);
    state[1] = Math::fused(beta2, state[1], rest2 * g * g);
  }
  static double correction(double beta, std::uint64_t t) { return 1 - std::pow(beta, static_cast<double>(t)); }
};

/// Adam (Kingma and Ba 2015, arXiv 1412.6980), coupled; AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101),
/// decoupled: p -= rate·m̂ / (√v̂ + ε).
template <class Math, bool coupled>
struct Adam {
  using A = typename Math::Scalar;
  using N = typename Math::Number;
  static constexpr int states = 2;
  Moments<Math> moments;
  A inside, outside, clip, rate, inverse2, epsilon;
  explicit Adam(const UpdateStep& s)
      : moments(s.beta1, s.beta2),
        inside(coupled ? static_cast<A>(s.weight_decay) : A(0)),
        outside(coupled ? A(0) : static_cast<A>(s.learning_rate * s.weight_decay)),
        clip(static_cast<A>(s.gradient_scale.value)),
        rate(static_cast<A>(s.learning_rate / moments.correction(s.beta1, s.t))),
        inverse2(static_cast<A>(1 / moments.correction(s.beta2, s.t))),
        epsilon(static_cast<A>(s.epsilon)) {}
  RANKSCOPE_HOST_DEVICE N next(N p, N raw, N (&state)[2]) const {
    N g = raw * clip;
    if constexpr (coupled) g = Math::fused(inside, p, g);
    moments.take(g, state);
    const N step = rate * state[0] / (Math::root(state[1] * inverse2) + epsilon);
    if constexpr (coupled) return p - step;
    return p - Math::fused(outside, p, step);
  }
};

/// RAdam (Liu et al. 2020, arXiv 1908.03265), coupled: ρ∞ = 2/(1-β2) - 1, ρ = ρ∞ - 2t·β2^t/(1-β2^t); if ρ > 5, p -=
/// rate·r·m̂·√(1-β2^t) / (√v + ε) with r² = (ρ-4)(ρ-2)ρ∞ / ((ρ∞-4)(ρ∞-2)ρ), and otherwise p -= rate·m̂. As in PyTorch,
/// ε is added to the uncorrected root.
template <class Math>
struct RAdam {
  using A = typename Math::Scalar;
  using N = typename Math::Number;
  static constexpr int states = 2;
  Moments<Math> moments;
  A decay, clip, rate, epsilon;
  bool rectified;
  explicit RAdam(const UpdateStep& s)
      : moments(s.beta1, s.beta2),
        decay(static_cast<A>(s.weight_decay)),
        clip(static_cast<A>(s.gradient_scale.value)),
        epsilon(static_cast<A>(s.epsilon)) {
    const double t = static_cast<double>(s.t), power = std::pow(s.beta2, t), longest = 2 / (1 - s.beta2) - 1;
    const double length = longest - 2 * t * power / (1 - power);
    const double plain = s.learning_rate / moments.correction(s.beta1, s.t);
    rectified = length > 5;
    rate = static_cast<A>(
        rectified
            ? plain * std::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) *
                  std::sqrt(1 - power)
            : plain);
  }
  RANKSCOPE_HOST_DEVICE N next(N p, N raw, N (&state)[2]) const {
    moments.take(Math::fused(clip, raw, decay * p), state);
    return rectified ? p - rate * state[0] / (Math::root(state[1]) + epsilon) : Math::fused(-rate, state[0], p);
  }
};

/// Sophia's clipped step (Liu, Li, Hall, Liang and Ma 2024, arXiv 2305.14342, algorithm 3), decoupled, with another
/// estimator of the curvature than the paper's. Sophia-G estimates the diagonal of the Gauss-Newton matrix, every k
/// steps, from the gradient ĝ of an extra backward on labels that are drawn from the model (Gauss-Newton-Bartlett:
/// B·ĝ⊙ĝ, B terms in the mean). Programs here have no extra backward, so ĝ is the step's own gradient, on the true
/// labels: the *empirical Fisher*, which the paper compares with as "E-F" and finds weaker. Clipping, averaging and
/// division are the same.
///
///   m = β1·m + (1-β1)·g;  every k-th step h = β2·h + (1-β2)·B·g²;  p -= rate·(λ·p + clip(m / max(γ·h, ε), -1, 1))
///
/// g is c·g, so that clipping by the norm scales both.
template <class Math>
struct Sophia {
  using A = typename Math::Scalar;
  using N = typename Math::Number;
  static constexpr int states = 2;
  A decay, clip, rate, beta1, rest1, beta2, rest2, gamma, least;
  explicit Sophia(const UpdateStep& s)
      : decay(static_cast<A>(s.learning_rate * s.weight_decay)),
        clip(static_cast<A>(s.gradient_scale.value)),
        rate(static_cast<A>(s.learning_rate)),
        beta1(static_cast<A>(s.beta1)),
        rest1(static_cast<A>(1 - s.beta1)),
        beta2(A(1)),
        rest2(A(0)),
        gamma(static_cast<A>(s.gamma)),
        least(static_cast<A>(s.epsilon)) {
    if ((s.t - 1) % static_cast<std::uint64_t>(s.hessian_interval) != 0) return;
    beta2 = static_cast<A>(s.beta2);
    rest2 = static_cast<A>((1 - s.beta2) * s.batch);
  }
  RANKSCOPE_HOST_DEVICE N next(N p, N raw, N (&state)[2]) const {
    const N g = raw * clip;
    state[0] = Math::fused(beta1, state[0], rest1 * g);
    state[1] = Math::fused(beta2, state[1], rest2 * g * g);
    const N scaled = gamma * state[1], step = state[0] / (scaled > least ? scaled : N{} + least);
    const N above = step > A(1) ? N{} + A(1) : step;  // a NaN stays NaN
    return p - Math::fused(decay, p, rate * (above < A(-1) ? N{} - A(1) : above));
  }
};

/// Calls body(std::type_identity<Rule>) for the rule if it updates each element independently. adam8bit computes as
/// adamw does, and rounds its states; Adafactor, LARS and LAMB are not elementwise, and body is not called.
template <class Math, class Body>
void with_element_rule(UpdateRule rule, Body&& body) {
  switch (rule) {
    case UpdateRule::sgd: return body(std::type_identity<Sgd<Math>>{});
    case UpdateRule::momentum: return body(std::type_identity<Momentum<Math>>{});
    case UpdateRule::adagrad: return body(std::type_identity<Adagrad<Math>>{});
    case UpdateRule::adam: return body(std::type_identity<Adam<Math, true>>{});
    case UpdateRule::adamw:
    case UpdateRule::adam8bit: return body(std::type_identity<Adam<Math, false>>{});
    case UpdateRule::radam: return body(std::type_identity<RAdam<Math>>{});
    case UpdateRule::sophia: return body(std::type_identity<Sophia<Math>>{});
    case UpdateRule::adafactor:
    case UpdateRule::lars:
    case UpdateRule::lamb: return;
  }
}

// LARS and LAMB, for large batches: the step of each matrix is relative to the matrix's own norm. Such a rule reads a
// tensor twice. measured(p, g, state) returns the element whose norm is compared with the parameter's (TrustRatio);
// next(p, g, state, ratio) then returns the new parameter.

/// LARS (You, Gitman and Ginsburg 2017, arXiv 1708.03888, algorithm 1), coupled: b = momentum·b + rate·ratio·(c·g +
/// λ·p); p -= b, with ratio = trust·‖p‖/(‖c·g‖ + λ·‖p‖).
template <class Math>
struct Lars {
  using A = typename Math::Scalar;
  using N = typename Math::Number;
  static constexpr int states = 1;
  static constexpr bool measuring_writes = false;  ///< measured() changes the states
  A decay, clip, kept, rate;
  explicit Lars(const UpdateStep& s)
      : decay(static_cast<A>(s.weight_decay)),
        clip(static_cast<A>(s.gradient_scale.value)),
        kept(static_cast<A>(s.momentum)),
        rate(static_cast<A>(s.learning_rate)) {}
  RANKSCOPE_HOST_DEVICE N measured(N, N raw, N (&)[2]) const { return raw * clip; }
  RANKSCOPE_HOST_DEVICE N next(N p, N raw, N (&state)[2], A ratio) const {
    state[0] = Math::fused(kept, state[0], (rate * ratio) * Math::fused(clip, raw, decay * p));
    return p - state[0];
  }
};

/// LAMB (You et al. 2020, arXiv 1904.00962, algorithm 2, φ(z) = z), decoupled: u = m̂ / (√v̂ + ε) + λ·p;
/// p -= rate·ratio·u, with ratio = ‖p‖/‖u‖.
template <class Math>
struct Lamb {
  using A = typename Math::Scalar;
  using N = typename Math::Number;
  static constexpr int states = 2;
  static constexpr bool measuring_writes = true;
  Moments<Math> moments;
  A decay, clip, rate, inverse1, inverse2, epsilon;
  explicit Lamb(const UpdateStep& s)
      : moments(s.beta1, s.beta2),
        decay(static_cast<A>(s.weight_decay)),
        clip(static_cast<A>(s.gradient_scale.value)),
        rate(static_cast<A>(s.learning_rate)),
        inverse1(static_cast<A>(1 / moments.correction(s.beta1, s.t))),
        inverse2(static_cast<A>(1 / moments.correction(s.beta2, s.t))),
        epsilon(static_cast<A>(s.epsilon)) {}
  RANKSCOPE_HOST_DEVICE N direction(N p, const N (&state)[2]) const {
    return Math::fused(decay, p, state[0] * inverse1 / (Math::root(state[1] * inverse2) + epsilon));
  }
  RANKSCOPE_HOST_DEVICE N measured(N p, N raw, N (&state)[2]) const {
    moments.take(raw * clip, state);
    return direction(p, state);
  }
  RANKSCOPE_HOST_DEVICE N next(N p, N, N (&state)[2], A ratio) const {
    return Math::fused(-(rate * ratio), direction(p, state), p);
  }
};

/// The factor on a tensor's step: 1 if one of the norms is 0, or if the tensor is not relative.
struct TrustRatio {
  bool of_gradient = false;  ///< LARS measures gradients, LAMB its own steps
  double trust = 0, decay = 0;
  TrustRatio(UpdateRule rule, const UpdateStep& s)
      : of_gradient(rule == UpdateRule::lars), trust(s.trust), decay(s.weight_decay) {}
  RANKSCOPE_HOST_DEVICE double of(double parameter_square, double measured_square) const {
    if (!(parameter_square > 0) || !(measured_square > 0)) return 1;
    const double parameter = sqrt(parameter_square), measured = sqrt(measured_square);
    return of_gradient ? trust * parameter / (measured + decay * parameter) : parameter / measured;
  }
};

/// Calls body(std::type_identity<Rule>) for LARS and LAMB.
template <class Math, class Body>
void with_trust_rule(UpdateRule rule, Body&& body) {
  if (rule == UpdateRule::lars) return body(std::type_identity<Lars<Math>>{});
  if (rule == UpdateRule::lamb) return body(std::type_identity<Lamb<Math>>{});
}
inline bool has_trust_ratio(UpdateRule rule) { return rule == UpdateRule::lars || rule == UpdateRule::lamb; }

/// Adafactor (Shazeer and Stern 2018, arXiv 1804.04235, algorithms 4 and 5, without a first moment), decoupled: a
/// matrix stores the means of its squared gradients by row and by column, whose outer product over their mean is its
/// second moment; an update is clipped to a root mean square of `update_clip` and its step is relative to the
/// parameter's size. The learning rate replaces the paper's 10^-2 (ρ_t = min(rate, 1/√t)), as in PyTorch 2.
///
///   β = 1 - t^-beta2_decay; R_i = β·R_i + (1-β)·mean_j(g_ij² + ε); C_j = β·C_j + (1-β)·mean_i(g_ij² + ε);
///   u_ij = g_ij / √(R_i·C_j / mean(R)), or g_j / √C_j of a vector;
///   p -= max(epsilon2, rms(p))·min(rate, 1/√t)·u / max(1, rms(u)/update_clip)
///
/// The numbers of a step, in fp64.
struct AdafactorNumbers {
  double kept, epsilon, least_size, greatest_update, rate, decay;
  explicit AdafactorNumbers(const UpdateStep& s)
      : kept(1 - std::pow(static_cast<double>(s.t), -s.beta2_decay)),
        epsilon(s.epsilon),
        least_size(s.epsilon2),
        greatest_update(s.update_clip),
        rate(std::min(s.learning_rate, 1 / std::sqrt(static_cast<double>(s.t)))),
        decay(s.learning_rate * s.weight_decay) {}
  /// R_i from its previous value and the mean of g_ij².
  RANKSCOPE_HOST_DEVICE double row_moment(double before, double mean_square) const {
    return kept * before + (1 - kept) * (mean_square + epsilon);
  }
  /// The factor of u, from the mean squares of u and p.
  RANKSCOPE_HOST_DEVICE double step_size(double update_square, double parameter_square) const {
    const double size = sqrt(parameter_square), over = sqrt(update_square) / greatest_update;
    return (least_size < size ? size : least_size) * rate / (1 < over ? over : 1);
  }
};

/// Adafactor's computations on elements, in their own type.
template <class Math>
struct Adafactor {
  using A = typename Math::Scalar;
  using N = typename Math::Number;
  A kept, rest, epsilon, decay;
  RANKSCOPE_HOST_DEVICE explicit Adafactor(const AdafactorNumbers& n)
      : kept(static_cast<A>(n.kept)),
        rest(static_cast<A>(1 - n.kept)),
        epsilon(static_cast<A>(n.epsilon)),
        decay(static_cast<A>(n.decay)) {}
  /// C_j from its previous value and a sum of squares; `factor` converts the sum to the mean.
  RANKSCOPE_HOST_DEVICE N column_moment(N before, A factor, N squares) const {
    return Math::fused(kept, before, rest * Math::fused(factor, squares, N{} + epsilon));
  }
  /// `factor`: of the row, the step and its size; `root`: 1/√C_j.
  RANKSCOPE_HOST_DEVICE N next(N p, N g, A factor, N root) const {
    return p - Math::fused(decay, p, factor * (g * root));
  }
};

}  // namespace rankscope::kernels
