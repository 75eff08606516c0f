// The rules of optimizers whose elements are each on their own, and one kernel that applies a rule to many tensors in
// one launch. What is contracted is said, fused(a, b, c), and files that include this are compiled without contraction:
// a shard of a tensor gets the bits of the whole one, and the bits are those of the CPU's loops. Internal to
// kernels/cuda.
#pragma once
#include <algorithm>

#include "kernels/cuda/launch.cuh"
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

/// One tensor of an update: parameter (T), master, states and gradient (A); what a rule has not is null.
struct UpdateTensor {
  void *parameter = nullptr, *master = nullptr;
  const void* gradient = nullptr;
  void* state[2] = {};
  int64_t elements = 0;
  int64_t first_block = 0;  ///< of the launch's blocks, those from here on are this tensor's
};

/// The tensors of one launch, ordered by first_block. A kernel's parameters may be 4 KB.
inline constexpr int most_tensors = 64;
template <int most>
struct UpdateTable {
  int count = 0;
  UpdateTensor tensor[most];
};
static_assert(sizeof(UpdateTable<most_tensors>) <= 3700);

inline constexpr int update_threads = 256, packs_per_thread = 2;

/// `scale`: what the gradient is multiplied by beside what the rule has, read from the device's memory.
template <int V, class T, class Rule>
__device__ inline void update_neighbours(const UpdateTensor& tensor, int64_t i, const Rule& rule, Arithmetic<T> scale) {
  using A = Arithmetic<T>;
  auto* parameter = static_cast<T*>(tensor.parameter);
  auto* master = static_cast<A*>(tensor.master);
  A p[V], g[V], state[2][V] = {};
  if (master != nullptr)
    load<V>(p, static_cast<const A*>(master) + i);
  else
    load<V>(p, static_cast<const T*>(parameter) + i);
  load<V>(g, static_cast<const A*>(tensor.gradient) + i);
#pragma unroll
  for (int s = 0; s < Rule::states; ++s) load<V>(state[s], static_cast<const A*>(tensor.state[s]) + i);
#pragma unroll
  for (int v = 0; v < V; ++v) {
    A own[2] = {state[0][v], state[1][v]};
    p[v] = rule.next(p[v], g[v] * scale, own);
    state[0][v] = own[0];
    state[1][v] = own[1];
  }
#pragma unroll
  for (int s = 0; s < Rule::states; ++s) store(static_cast<A*>(tensor.state[s]) + i, state[s]);
  if (master != nullptr) store(master + i, p);
  store(parameter + i, p);
}

/// Elements of a block; V at once.
template <int V>
inline constexpr int64_t update_block = int64_t{update_threads} * V* packs_per_thread;

template <class T, int V, class Rule, int most>
__global__ void __launch_bounds__(update_threads)
    update_tensors(const __grid_constant__ UpdateTable<most> table, const Rule rule, const double* scale_at) {
  const Arithmetic<T> scale = scale_at == nullptr ? Arithmetic<T>(1) : static_cast<Arithmetic<T>>(*scale_at);
  int which = 0, beyond = table.count;
  while (beyond - which > 1) {
    const int middle = (which + beyond) / 2;
    if (int64_t{blockIdx.x} < table.tensor[middle].first_block)
      beyond = middle;
    else
      which = middle;
  }
  const UpdateTensor& tensor = table.tensor[which];
  const int64_t begin = (int64_t{blockIdx.x} - tensor.first_block) * update_block<V>;
#pragma unroll
  for (int k = 0; k < packs_per_thread; ++k) {
    const int64_t first = begin + (int64_t{k} * update_threads + threadIdx.x) * V;
    if (first + V <= tensor.elements) {
      update_neighbours<V, T>(tensor, first, rule, scale);
    } else {
      for (int64_t i = first; i < tensor.elements; ++i) update_neighbours<1, T>(tensor, i, rule, scale);
    }
  }
}

/// Neighbours that a thread takes: 16 bytes of the states.
template <class T>
inline constexpr int update_pack = pack<Arithmetic<T>>;

/// Whether a tensor's elements can be taken in packs.
template <class T>
bool takes_packs(const UpdateTensor& t) {
  constexpr std::int64_t parameter_bytes = update_pack<T> * sizeof(T);
  return rows_are_packs(0, 1, 16, {t.master, t.gradient, t.state[0], t.state[1]}) &&
         rows_are_packs(0, 1, parameter_bytes, {t.parameter});
}

/// Launches the rule on all tensors, 64 a launch. `scale_at`: UpdateNumbers::gradient_scale_at.
template <class T, class Rule>
void update_all(const UpdateTensor* tensors, int64_t count, const Rule& rule, const double* scale_at,
                const Stream& stream) {
  constexpr int v = update_pack<T>;
  bool packed = true;
  for (int64_t i = 0; i < count; ++i) packed = packed && takes_packs<T>(tensors[i]);
  const auto send = [&]<int most>(int64_t first, UpdateTable<most> table) {
    int64_t blocks = 0;
    for (int i = 0; i < table.count; ++i) {
      table.tensor[i] = tensors[first + i];
      table.tensor[i].first_block = blocks;
      blocks += pieces_of(table.tensor[i].elements, packed ? update_block<v> : update_block<1>);
    }
    launch(packed ? update_tensors<T, v, Rule, most> : update_tensors<T, 1, Rule, most>,
           {grid_of(blocks), dim3(update_threads)}, stream, table, rule, scale_at);
  };
  if (count == 1) return send(0, UpdateTable<1>{1, {}});
  for (int64_t first = 0; first < count; first += most_tensors)
    send(first, UpdateTable<most_tensors>{static_cast<int>(std::min<int64_t>(most_tensors, count - first)), {}});
}

}  // namespace rankscope::kernels::cuda
