// One kernel that applies an optimizer's rule to the elements of any number of tensors. Files that include this are
// compiled without contraction: see kernels/update_rules.hpp. Internal to kernels/cuda.
#pragma once
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/tensor_table.cuh"
#include "kernels/update_rules.hpp"

namespace rankscope::kernels::cuda {

/// The Math parameter of the rules: A, the arithmetic type, element by element.
template <class A>
struct Math {
  using Scalar = A;
  using Number = A;
  __host__ __device__ static A fused(A a, A b, A c) { return fma(a, b, c); }
  __host__ __device__ static A root(A x) { return sqrt(x); }
};
template <>
struct Math<float> {
  using Scalar = float;
  using Number = float;
  __host__ __device__ static float fused(float a, float b, float c) { return fmaf(a, b, c); }
  __host__ __device__ static float root(float x) { return sqrtf(x); }
};

/// One tensor of an update: parameter (T), master, states and gradient (A); null if the rule does not use it.
struct UpdateTensor {
  void *parameter = nullptr, *master = nullptr;
  const void* gradient = nullptr;
  void* state[2] = {};
  int64_t elements = 0;
  bool decays = true;
  bool packed = false;  ///< its elements can be read in packs (takes_packs)
};

/// The rule with weight decay, and without it.
template <class Rule>
struct Rules {
  Rule decaying, plain;
  explicit Rules(const UpdateStep& step) : decaying(step), plain(without_decay(step)) {}
  static UpdateStep without_decay(UpdateStep step) {
    step.weight_decay = 0;
    return step;
  }
};

inline constexpr int update_threads = 256, packs_per_thread = 2;

/// `scale`: a further factor of the gradient, read from the device's memory.
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

template <int V, class T, class Rule>
__device__ inline void update_block_of(const UpdateTensor& tensor, int64_t block, const Rule& rule,
                                       Arithmetic<T> scale) {
#pragma unroll
  for (int k = 0; k < packs_per_thread; ++k) {
    const int64_t first = block * update_block<V> + (int64_t{k} * update_threads + threadIdx.x) * V;
    if (first + V <= tensor.elements) {
      update_neighbours<V, T>(tensor, first, rule, scale);
    } else {
      for (int64_t i = first; i < tensor.elements; ++i) update_neighbours<1, T>(tensor, i, rule, scale);
    }
  }
}

/// Neighbours per thread: 16 bytes of the states.
template <class T>
inline constexpr int update_pack = pack<Arithmetic<T>>;

template <class T, class Rule>
__global__ void __launch_bounds__(update_threads)
    update_tensors(const __grid_constant__ TensorTable<UpdateTensor> tensors, const __grid_constant__ Rules<Rule> rules,
                   const double* scale_at) {
  const Arithmetic<T> scale = scale_at == nullptr ? Arithmetic<T>(1) : static_cast<Arithmetic<T>>(*scale_at);
  int64_t block = blockIdx.x;
  const UpdateTensor tensor = tensors.find(block);
  const Rule& rule = tensor.decays ? rules.decaying : rules.plain;
  if (tensor.packed)
    update_block_of<update_pack<T>, T>(tensor, block, rule, scale);
  else
    update_block_of<1, T>(tensor, block, rule, scale);
}

/// Whether a tensor's elements can be read in packs.
template <class T>
bool takes_packs(const UpdateTensor& t) {
  constexpr std::int64_t parameter_bytes = update_pack<T> * sizeof(T);
  return rows_are_packs(0, 1, 16, {t.master, t.gradient, t.state[0], t.state[1]}) &&
         rows_are_packs(0, 1, parameter_bytes, {t.parameter});
}

template <class T>
int64_t blocks_of(const UpdateTensor& t) {
  return pieces_of(t.elements, t.packed ? update_block<update_pack<T>> : update_block<1>);
}

}  // namespace rankscope::kernels::cuda
