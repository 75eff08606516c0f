// AdamW with moments of one byte per element: a warp for each block of 256, which it reads, updates and quantises again
// in registers; any number of tensors in one launch.
#include <memory>

#include "kernels/cuda/ops.hpp"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/update.cuh"
#include "kernels/quantised_levels.hpp"

namespace rankscope::kernels::cuda {
namespace {

__device__ const Levels<float> signed_levels_f32 = make_levels<float>(true);
__device__ const Levels<float> unsigned_levels_f32 = make_levels<float>(false);
__device__ const Levels<double> signed_levels_f64 = make_levels<double>(true);
__device__ const Levels<double> unsigned_levels_f64 = make_levels<double>(false);

template <class A, bool is_signed>
__device__ inline const Levels<A>& levels_of() {
  if constexpr (sizeof(A) == 8)
    return is_signed ? signed_levels_f64 : unsigned_levels_f64;
  else
    return is_signed ? signed_levels_f32 : unsigned_levels_f32;
}

/// The code of the level nearest to x in [-1, 1] (unsigned: [0, 1]).
template <class A, bool is_signed>
__device__ inline std::uint8_t code_of(A x) {
  const Levels<A>& levels = levels_of<A, is_signed>();
  const A magnitude = x < 0 ? -x : x;
  int e = decades - 1;
  for (int nearer = decades - 2; nearer >= 0; --nearer)
    if (magnitude >= levels.border[nearer]) e = nearer;
  const A bin = lesser(greater(fused(magnitude, levels.slope[e], levels.shift[e]), A(0)), levels.last[e]);
  int rank = static_cast<int>(levels.base[e]) + static_cast<int>(bin);
  if (magnitude < levels.least) rank = 0;
  if (magnitude > levels.greatest) rank = levels.top;
  if constexpr (!is_signed) return static_cast<std::uint8_t>(rank);
  return static_cast<std::uint8_t>(x < 0 ? code_of_zero - lesser(rank, code_of_zero) : code_of_zero + rank);
}

template <int V>
struct alignas(V) Codes {
  std::uint8_t value[V];
};

struct QuantisedTensor {
  void *parameter, *master;
  const void* gradient;
  std::uint8_t *m, *v;
  void *m_scale, *v_scale;
  int64_t elements;
  bool decays;
  bool aligned;  ///< complete blocks can be read in runs of neighbours
};

/// The data of one moment in a block's warp: every lane has some runs of V neighbours.
template <class A, int V, bool is_signed>
struct Moment {
  static constexpr int runs = static_cast<int>(quantised_block) / (warp_size * V);
  A value[runs][V] = {};

  __device__ void read(int run, const std::uint8_t* codes, A scale) {
    const auto all = *reinterpret_cast<const Codes<V>*>(codes);
#pragma unroll
    for (int i = 0; i < V; ++i) value[run][i] = levels_of<A, is_signed>().value[all.value[i]] * scale;
  }
  /// The greatest magnitude over all lanes, which must all call it.
  __device__ A scale() const {
    A top = 0;
#pragma unroll
    for (int run = 0; run < runs; ++run)
#pragma unroll
      for (int i = 0; i < V; ++i) top = greater(top, value[run][i] < 0 ? -value[run][i] : value[run][i]);
    return over_lanes(top, Greater{});
  }
  __device__ void write(int run, std::uint8_t* codes, A inverse) const {
    Codes<V> all;
#pragma unroll
    for (int i = 0; i < V; ++i) all.value[i] = code_of<A, is_signed>(value[run][i] * inverse);
    *reinterpret_cast<Codes<V>*>(codes) = all;
  }
};

template <class T>
using AdamOf = Adam<Math<Arithmetic<T>>, false>;

template <class T, int V>
__device__ inline void update_quantised(const QuantisedTensor& tensor, int64_t block, const AdamOf<T>& rule,
                                        Arithmetic<T> scale) {
  using A = Arithmetic<T>;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  auto* parameter = static_cast<T*>(tensor.parameter);
  auto* master = static_cast<A*>(tensor.master);
  auto* m_scale = static_cast<A*>(tensor.m_scale) + block;
  auto* v_scale = static_cast<A*>(tensor.v_scale) + block;
  const auto place = [&](int run) { return block * quantised_block + (int64_t{run} * warp_size + lane) * V; };
  Moment<A, V, true> m;
  Moment<A, V, false> v;
#pragma unroll
  for (int run = 0; run < m.runs; ++run) {
    const int64_t at = place(run);
    if (at >= tensor.elements) continue;
    m.read(run, tensor.m + at, *m_scale);
    v.read(run, tensor.v + at, *v_scale);
    A p[V], g[V];
    if (master != nullptr)
      load<V>(p, static_cast<const A*>(master) + at);
    else
      load<V>(p, static_cast<const T*>(parameter) + at);
    load<V>(g, static_cast<const A*>(tensor.gradient) + at);
#pragma unroll
    for (int i = 0; i < V; ++i) {
      A states[2] = {m.value[run][i], v.value[run][i]};
      p[i] = rule.next(p[i], g[i] * scale, states);
      m.value[run][i] = states[0];
      v.value[run][i] = states[1];
    }
    if (master != nullptr) store(master + at, p);
    store(parameter + at, p);
  }
  const A m_top = m.scale(), v_top = v.scale();  // all lanes have read the old scales
  if (lane == 0) {
    *m_scale = m_top;
    *v_scale = v_top;
  }
  const A m_inverse = m_top >= least_scale<A> ? 1 / m_top : A(0),
          v_inverse = v_top >= least_scale<A> ? 1 / v_top : A(0);
#pragma unroll
  for (int run = 0; run < m.runs; ++run) {
    const int64_t at = place(run);
    if (at >= tensor.elements) continue;
    m.write(run, tensor.m + at, m_inverse);
    v.write(run, tensor.v + at, v_inverse);
  }
}

constexpr int threads = 256, warps = threads / warp_size;

/// `scale_at`: UpdateStep::gradient_scale.at. Complete blocks of aligned tensors in runs of V neighbours, others
/// element by element.
template <class T, int V>
__global__ void __launch_bounds__(threads)
    update_quantised_blocks(const __grid_constant__ TensorTable<QuantisedTensor> tensors,
                            const __grid_constant__ Rules<AdamOf<T>> rules, const double* scale_at) {
  const Arithmetic<T> scale = scale_at == nullptr ? Arithmetic<T>(1) : static_cast<Arithmetic<T>>(*scale_at);
  int64_t group = blockIdx.x;
  const QuantisedTensor tensor = tensors.find(group);
  const auto& rule = tensor.decays ? rules.decaying : rules.plain;
  const int64_t block = group * warps + threadIdx.x / warp_size;
  if (block * quantised_block >= tensor.elements) return;
  if (tensor.aligned && (block + 1) * quantised_block <= tensor.elements)
    update_quantised<T, V>(tensor, block, rule, scale);
  else
    update_quantised<T, 1>(tensor, block, rule, scale);
}

template <class T>
QuantisedTensor tensor_of(const UpdateOperand& o) {
  constexpr int width = update_pack<T>;
  QuantisedTensor tensor{o.parameter.data,
                         o.master.data,
                         o.gradient.data,
                         o.states[0].as<std::uint8_t>(),
                         o.states[1].as<std::uint8_t>(),
                         o.states[2].data,
                         o.states[3].data,
                         o.parameter.elements(),
                         o.decays,
                         false};
  tensor.aligned = rows_are_packs(0, 1, 16, {tensor.master, tensor.gradient}) &&
                   rows_are_packs(0, 1, width * sizeof(T), {tensor.parameter}) &&
                   rows_are_packs(0, 1, width, {tensor.m, tensor.v});
  return tensor;
}

}  // namespace

Prepared<UpdateStep> adam8bit_update(const UpdateSpec& spec) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<UpdateStep> {
    std::vector<QuantisedTensor> tensors;
    std::vector<int64_t> groups;
    for (const UpdateOperand& o : spec.tensors) {
      tensors.push_back(tensor_of<T>(o));
      groups.push_back(pieces_of(o.parameter.elements(), warps * quantised_block));
    }
    const auto written = std::make_shared<const WrittenTable<QuantisedTensor>>(tensors, groups);
    return {0, [written](const UpdateStep& step, const Stream& stream) {
              launch(update_quantised_blocks<T, update_pack<T>>, {grid_of(written->blocks()), dim3(threads)}, stream,
                     written->table(), Rules<AdamOf<T>>(step), step.gradient_scale.at);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
