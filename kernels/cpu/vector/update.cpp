// The optimizers' updates of a range of elements, where every element is on its own. A shard of a tensor must get the
// bits of the whole one, so what is contracted is said: fused(a, b, c), and this file is compiled without contraction.
#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

/// Calls next(offset, part, p, gradient), which gives the new p, so as to cover n elements. The parameter is rewritten
/// from its master.
template <class T, class Next>
RANKSCOPE_INLINE void each(const UpdateStretch& stretch, int64_t n, Next next) {
  using A = Scalar<T>;
  auto* parameter = static_cast<T*>(stretch.parameter);
  auto* master = static_cast<A*>(stretch.master);
  const auto* gradient = static_cast<const A*>(stretch.gradient);
  sweep<T>(n, [&](int64_t i, auto part) {
    const Vector<T> p = master ? load(master + i, part) : load(parameter + i, part);
    const Vector<T> result = next(i, part, p, load(gradient + i, part));
    if (master) store(master + i, result, part);
    store(parameter + i, result, part);
  });
}

// Decoupled decay is not p·(1 - decay): in fp32 the difference from 1 would keep two digits.

template <class T>
void sgd(const UpdateStretch& stretch, int64_t n, const UpdateNumbers& numbers) {
  using A = Scalar<T>;
  const A decay = static_cast<A>(numbers.learning_rate * numbers.weight_decay);
  const A rate = static_cast<A>(numbers.learning_rate * numbers.gradient_scale);
  each<T>(stretch, n,
          [&](int64_t, auto, const Vector<T>& p, const Vector<T>& g) { return p - fused(decay, p, rate * g); });
}

template <class T>
void momentum(const UpdateStretch& stretch, int64_t n, const UpdateNumbers& numbers) {
  using A = Scalar<T>;
  auto* buffer = static_cast<A*>(stretch.state[0]);
  const A decay = static_cast<A>(numbers.weight_decay), clip = static_cast<A>(numbers.gradient_scale);
  const A kept = static_cast<A>(numbers.momentum), rate = static_cast<A>(numbers.learning_rate);
  // With Nesterov's look ahead the step is g + momentum·b, without it b alone.
  const A of_gradient = numbers.nesterov ? A(1) : A(0), of_buffer = numbers.nesterov ? kept : A(1);
  each<T>(stretch, n, [&](int64_t i, auto part, const Vector<T>& p, const Vector<T>& raw) {
    const Vector<T> g = fused(clip, raw, decay * p);
    const Vector<T> b = fused(kept, load(buffer + i, part), g);
    store(buffer + i, b, part);
    return fused(-rate, fused(of_gradient, g, of_buffer * b), p);
  });
}

/// Adagrad (Duchi, Hazan and Singer 2011), the diagonal form.
template <class T>
void adagrad(const UpdateStretch& stretch, int64_t n, const UpdateNumbers& numbers) {
  using A = Scalar<T>;
  auto* sum = static_cast<A*>(stretch.state[0]);
  const A decay = static_cast<A>(numbers.weight_decay), clip = static_cast<A>(numbers.gradient_scale);
  const A rate = static_cast<A>(numbers.learning_rate), epsilon = static_cast<A>(numbers.epsilon);
  each<T>(stretch, n, [&](int64_t i, auto part, const Vector<T>& p, const Vector<T>& raw) {
    const Vector<T> g = fused(clip, raw, decay * p);
    const Vector<T> s = fused(g, g, load(sum + i, part));
    store(sum + i, s, part);
    return p - rate * g / (root_of(s) + epsilon);
  });
}

/// Adam (Kingma and Ba 2015, arXiv 1412.6980), decay coupled; and AdamW (Loshchilov and Hutter 2019, arXiv 1711.05101),
/// decay apart from the gradient.
template <class T, bool coupled>
void adam(const UpdateStretch& stretch, int64_t n, const UpdateNumbers& numbers) {
  using A = Scalar<T>;
  auto* m = static_cast<A*>(stretch.state[0]);
  auto* v = static_cast<A*>(stretch.state[1]);
  const A inside = coupled ? static_cast<A>(numbers.weight_decay) : A(0);
  const A outside = coupled ? A(0) : static_cast<A>(numbers.learning_rate * numbers.weight_decay);
  const A clip = static_cast<A>(numbers.gradient_scale);
  const A beta1 = static_cast<A>(numbers.beta1), rest1 = static_cast<A>(1 - numbers.beta1);
  const A beta2 = static_cast<A>(numbers.beta2), rest2 = static_cast<A>(1 - numbers.beta2);
  const A rate = static_cast<A>(numbers.learning_rate / numbers.correction1);
  const A inverse2 = static_cast<A>(1 / numbers.correction2);
  const A epsilon = static_cast<A>(numbers.epsilon);
  each<T>(stretch, n, [&](int64_t i, auto part, const Vector<T>& p, const Vector<T>& raw) {
    Vector<T> g = raw * clip;
    if constexpr (coupled) g = fused(inside, p, g);
    const Vector<T> first = fused(beta1, load(m + i, part), rest1 * g);
    const Vector<T> second = fused(beta2, load(v + i, part), rest2 * g * g);
    store(m + i, first, part);
    store(v + i, second, part);
    const Vector<T> step = rate * first / (root_of(second * inverse2) + epsilon);
    if constexpr (coupled) return p - step;
    return p - fused(outside, p, step);
  });
}

/// RAdam (Liu et al. 2020, arXiv 1908.03265); as in PyTorch epsilon stands beside the uncorrected root.
template <class T>
void radam(const UpdateStretch& stretch, int64_t n, const UpdateNumbers& numbers) {
  using A = Scalar<T>;
  auto* m = static_cast<A*>(stretch.state[0]);
  auto* v = static_cast<A*>(stretch.state[1]);
  const A decay = static_cast<A>(numbers.weight_decay), clip = static_cast<A>(numbers.gradient_scale);
  const A beta1 = static_cast<A>(numbers.beta1), rest1 = static_cast<A>(1 - numbers.beta1);
  const A beta2 = static_cast<A>(numbers.beta2), rest2 = static_cast<A>(1 - numbers.beta2);
  const bool rectified = numbers.rectification > 0;
  const double plain = numbers.learning_rate / numbers.correction1;
  const A rate =
      static_cast<A>(rectified ? plain * numbers.rectification * __builtin_sqrt(numbers.correction2) : plain);
  const A epsilon = static_cast<A>(numbers.epsilon);
  each<T>(stretch, n, [&](int64_t i, auto part, const Vector<T>& p, const Vector<T>& raw) {
    const Vector<T> g = fused(clip, raw, decay * p);
    const Vector<T> first = fused(beta1, load(m + i, part), rest1 * g);
    const Vector<T> second = fused(beta2, load(v + i, part), rest2 * g * g);
    store(m + i, first, part);
    store(v + i, second, part);
    return rectified ? p - rate * first / (root_of(second) + epsilon) : fused(-rate, first, p);
  });
}

/// Sophia's clipped step (Liu et al. 2024, arXiv 2305.14342); what h estimates is the caller's choice of gradient.
template <class T>
void sophia(const UpdateStretch& stretch, int64_t n, const UpdateNumbers& numbers) {
  using A = Scalar<T>;
  auto* m = static_cast<A*>(stretch.state[0]);
  auto* h = static_cast<A*>(stretch.state[1]);
  const A decay = static_cast<A>(numbers.learning_rate * numbers.weight_decay);
  const A clip = static_cast<A>(numbers.gradient_scale), rate = static_cast<A>(numbers.learning_rate);
  const A beta1 = static_cast<A>(numbers.beta1), rest1 = static_cast<A>(1 - numbers.beta1);
  const A beta2 = static_cast<A>(numbers.refresh ? numbers.beta2 : 1);
  const A rest2 = static_cast<A>(numbers.refresh ? (1 - numbers.beta2) * numbers.batch : 0);
  const A gamma = static_cast<A>(numbers.gamma);
  const Vector<T> zero = {};
  const Vector<T> least = zero + static_cast<A>(numbers.epsilon), one = zero + A(1);
  each<T>(stretch, n, [&](int64_t i, auto part, const Vector<T>& p, const Vector<T>& raw) {
    const Vector<T> g = raw * clip;
    const Vector<T> first = fused(beta1, load(m + i, part), rest1 * g);
    const Vector<T> curvature = fused(beta2, load(h + i, part), rest2 * g * g);
    store(m + i, first, part);
    store(h + i, curvature, part);
    const Vector<T> scaled = gamma * curvature;
    Vector<T> step = first / (scaled > least ? scaled : least);
    step = step > one ? one : step;
    step = step < -one ? -one : step;
    return p - fused(decay, p, rate * step);
  });
}

}  // namespace

template <class T>
void add_update(Loops& loops) {
  loops.sgd = sgd<T>;
  loops.momentum = momentum<T>;
  loops.adagrad = adagrad<T>;
  loops.adam = adam<T, true>;
  loops.adamw = adam<T, false>;
  loops.radam = radam<T>;
  loops.sophia = sophia<T>;
}
RANKSCOPE_FOR_ALL_TYPES(add_update)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
