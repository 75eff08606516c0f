// The rules of optimizers whose elements are each on their own. What is contracted is said, fused(a, b, c), and files
// that include this are compiled without contraction: a shard of a tensor gets the bits of the whole one, and the bits
// are those of the CPU's loops. Internal to kernels/cuda.
#pragma once
#include <cmath>

#include "kernels/cuda/element.cuh"
#include "kernels/update_numbers.hpp"

namespace rankscope::kernels::cuda {

// A rule: how many states it has, and next(p, g, states), which changes the states and gives the new parameter.
// Decoupled decay is not p·(1 - decay): in fp32 the difference from 1 would keep two digits.

template <class A>
struct Sgd {
  static constexpr int states = 0;
  A decay, rate;
  explicit Sgd(const UpdateNumbers& n)
      : decay(static_cast<A>(n.learning_rate * n.weight_decay)),
        rate(static_cast<A>(n.learning_rate * n.gradient_scale)) {}
  __device__ A next(A p, A g, A (&)[2]) const { return p - fused(decay, p, rate * g); }
};

template <class A>
struct Momentum {
  static constexpr int states = 1;
  A decay, clip, kept, rate, of_gradient, of_buffer;  // Nesterov's step is g + momentum·b, the plain one b alone
  explicit Momentum(const UpdateNumbers& n)
      : decay(static_cast<A>(n.weight_decay)),
        clip(static_cast<A>(n.gradient_scale)),
        kept(static_cast<A>(n.momentum)),
        rate(static_cast<A>(n.learning_rate)),
        of_gradient(n.nesterov ? A(1) : A(0)),
        of_buffer(n.nesterov ? kept : A(1)) {}
  __device__ A next(A p, A raw, A (&state)[2]) const {
    const A g = fused(clip, raw, decay * p);
    state[0] = fused(kept, state[0], g);
    return fused(-rate, fused(of_gradient, g, of_buffer * state[0]), p);
  }
};

template <class A>
struct Adagrad {
  static constexpr int states = 1;
  A decay, clip, rate, epsilon;
  explicit Adagrad(const UpdateNumbers& n)
      : decay(static_cast<A>(n.weight_decay)),
        clip(static_cast<A>(n.gradient_scale)),
        rate(static_cast<A>(n.learning_rate)),
        epsilon(static_cast<A>(n.epsilon)) {}
  __device__ A next(A p, A raw, A (&state)[2]) const {
    const A g = fused(clip, raw, decay * p);
    state[0] = fused(g, g, state[0]);
    return p - rate * g / (root_of(state[0]) + epsilon);
  }
};

/// m and v of Adam's family.
template <class A>
struct Moments {
  A beta1, rest1, beta2, rest2;
  explicit Moments(const UpdateNumbers& n)
      : beta1(static_cast<A>(n.beta1)),
        rest1(static_cast<A>(1 - n.beta1)),
        beta2(static_cast<A>(n.beta2)),
        rest2(static_cast<A>(1 - n.beta2)) {}
  __device__ void take(A g, A (&state)[2]) const {
    state[0] = fused(beta1, state[0], rest1 * g);
    state[1] = fused(beta2, state[1], rest2 * g * g);
  }
};

template <class A, bool coupled>
struct Adam {
  static constexpr int states = 2;
  Moments<A> moments;
  A inside, outside, clip, rate, inverse2, epsilon;
  explicit Adam(const UpdateNumbers& n)
      : moments(n),
        inside(coupled ? static_cast<A>(n.weight_decay) : A(0)),
        outside(coupled ? A(0) : static_cast<A>(n.learning_rate * n.weight_decay)),
        clip(static_cast<A>(n.gradient_scale)),
        rate(static_cast<A>(n.learning_rate / n.correction1)),
        inverse2(static_cast<A>(1 / n.correction2)),
        epsilon(static_cast<A>(n.epsilon)) {}
  __device__ A next(A p, A raw, A (&state)[2]) const {
    A g = raw * clip;
    if constexpr (coupled) g = fused(inside, p, g);
    moments.take(g, state);
    const A step = rate * state[0] / (root_of(state[1] * inverse2) + epsilon);
    if constexpr (coupled) return p - step;
    return p - fused(outside, p, step);
  }
};

template <class A>
struct RAdam {
  static constexpr int states = 2;
  Moments<A> moments;
  A decay, clip, rate, epsilon;
  bool rectified;
  explicit RAdam(const UpdateNumbers& n)
      : moments(n),
        decay(static_cast<A>(n.weight_decay)),
        clip(static_cast<A>(n.gradient_scale)),
        rate(static_cast<A>(rate_of(n))),
        epsilon(static_cast<A>(n.epsilon)),
        rectified(n.rectification > 0) {}
  static double rate_of(const UpdateNumbers& n) {
    const double plain = n.learning_rate / n.correction1;
    return n.rectification > 0 ? plain * n.rectification * std::sqrt(n.correction2) : plain;
  }
  __device__ A next(A p, A raw, A (&state)[2]) const {
    moments.take(fused(clip, raw, decay * p), state);
    return rectified ? p - rate * state[0] / (root_of(state[1]) + epsilon) : fused(-rate, state[0], p);
  }
};

template <class A>
struct Sophia {
  static constexpr int states = 2;
  A decay, clip, rate, beta1, rest1, beta2, rest2, gamma, least;
  explicit Sophia(const UpdateNumbers& n)
      : decay(static_cast<A>(n.learning_rate * n.weight_decay)),
        clip(static_cast<A>(n.gradient_scale)),
        rate(static_cast<A>(n.learning_rate)),
        beta1(static_cast<A>(n.beta1)),
        rest1(static_cast<A>(1 - n.beta1)),
        beta2(static_cast<A>(n.refresh ? n.beta2 : 1)),
        rest2(static_cast<A>(n.refresh ? (1 - n.beta2) * n.batch : 0)),
        gamma(static_cast<A>(n.gamma)),
        least(static_cast<A>(n.epsilon)) {}
  __device__ A next(A p, A raw, A (&state)[2]) const {
    const A g = raw * clip;
    state[0] = fused(beta1, state[0], rest1 * g);
    state[1] = fused(beta2, state[1], rest2 * g * g);
    const A step = state[0] / greater(gamma * state[1], least);
    return p - fused(decay, p, rate * greater(A(-1), lesser(A(1), step)));
  }
};

}  // namespace rankscope::kernels::cuda
