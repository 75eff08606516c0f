// LARS and LAMB for any number of tensors, in three launches: the norms of each tensor and of its step, block by block;
// each tensor's ratio; the step. Two of them read all elements.
#include <memory>

#include "kernels/cuda/ops.hpp"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/update.cuh"

namespace rankscope::kernels::cuda {
namespace {

constexpr int threads = 256;
/// Elements of a block: neighbouring threads have neighbouring elements.
constexpr int64_t elements_per_block = 4096;

/// A tensor with the offsets of its data in a launch's scratch memory, in doubles from its begin.
struct TrustTensor {
  UpdateTensor tensor;
  bool relative;
  int64_t squares;  ///< two per block
  int64_t ratio;
};
using Tensors = TensorTable<TrustTensor>;

int64_t blocks_of(const TrustTensor& t) { return pieces_of(t.tensor.elements, elements_per_block); }

template <class T>
struct Element {
  using A = Arithmetic<T>;
  A p, g, state[2] = {};
  template <class Rule>
  __device__ void load_from(const UpdateTensor& t, int64_t i) {
    p = t.master != nullptr ? static_cast<const A*>(t.master)[i] : widen(static_cast<const T*>(t.parameter)[i]);
    g = static_cast<const A*>(t.gradient)[i];
    for (int s = 0; s < Rule::states; ++s) state[s] = static_cast<const A*>(t.state[s])[i];
  }
  template <class Rule>
  __device__ void store_states(const UpdateTensor& t, int64_t i) const {
    for (int s = 0; s < Rule::states; ++s) static_cast<A*>(t.state[s])[i] = state[s];
  }
};

/// Calls body(i) for this thread's elements of the block.
template <class Body>
__device__ inline void each_element(const UpdateTensor& tensor, int64_t block, Body body) {
  const int64_t first = block * elements_per_block;
  const int64_t last = lesser<int64_t>(tensor.elements, first + elements_per_block);
  for (int64_t i = first + threadIdx.x; i < last; i += threads) body(i);
}

template <class T, class Rule>
__global__ void __launch_bounds__(threads)
    measure(double* scratch, const __grid_constant__ Tensors tensors, const __grid_constant__ Rules<Rule> rules,
            const double* scale_at) {
  using A = Arithmetic<T>;
  const A scale = scale_at == nullptr ? A(1) : static_cast<A>(*scale_at);
  int64_t block = blockIdx.x;
  const TrustTensor t = tensors.find(block);
  const Rule& rule = t.tensor.decays ? rules.decaying : rules.plain;
  double of_parameter = 0, of_measured = 0;
  each_element(t.tensor, block, [&](int64_t i) {
    Element<T> e;
    e.template load_from<Rule>(t.tensor, i);
    const auto measured = static_cast<double>(rule.measured(e.p, e.g * scale, e.state));
    of_parameter += static_cast<double>(e.p) * static_cast<double>(e.p);
    of_measured += measured * measured;
    if constexpr (Rule::measuring_writes) e.template store_states<Rule>(t.tensor, i);
  });
  of_parameter = block_sum(of_parameter);
  of_measured = block_sum(of_measured);
  if (threadIdx.x != 0) return;
  scratch[t.squares + 2 * block] = of_parameter;
  scratch[t.squares + 2 * block + 1] = of_measured;
}

/// A block for each tensor.
__global__ void __launch_bounds__(reducers)
    choose_ratio(double* scratch, const __grid_constant__ Tensors tensors, const __grid_constant__ TrustRatio decaying,
                 const __grid_constant__ TrustRatio plain) {
  int64_t block = blockIdx.x;
  const TrustTensor t = tensors.find(block);
  const int64_t blocks = (t.tensor.elements + elements_per_block - 1) / elements_per_block;
  double of_parameter = 0, of_measured = 0;
  for (int64_t b = threadIdx.x; b < blocks; b += reducers) {
    of_parameter += scratch[t.squares + 2 * b];
    of_measured += scratch[t.squares + 2 * b + 1];
  }
  of_parameter = block_sum(of_parameter);
  of_measured = block_sum(of_measured);
  if (threadIdx.x != 0) return;
  const TrustRatio& ratio = t.tensor.decays ? decaying : plain;
  scratch[t.ratio] = t.relative ? ratio.of(of_parameter, of_measured) : 1;
}

template <class T, class Rule>
__global__ void __launch_bounds__(threads)
    descend(const double* scratch, const __grid_constant__ Tensors tensors, const __grid_constant__ Rules<Rule> rules,
            const double* scale_at) {
  using A = Arithmetic<T>;
  const A scale = scale_at == nullptr ? A(1) : static_cast<A>(*scale_at);
  int64_t block = blockIdx.x;
  const TrustTensor t = tensors.find(block);
  const Rule& rule = t.tensor.decays ? rules.decaying : rules.plain;
  const A ratio = static_cast<A>(scratch[t.ratio]);
  each_element(t.tensor, block, [&](int64_t i) {
    Element<T> e;
    e.template load_from<Rule>(t.tensor, i);
    const A next[1] = {rule.next(e.p, e.g * scale, e.state, ratio)};
    if constexpr (!Rule::measuring_writes) e.template store_states<Rule>(t.tensor, i);
    if (t.tensor.master != nullptr) static_cast<A*>(t.tensor.master)[i] = next[0];
    store(static_cast<T*>(t.tensor.parameter) + i, next);
  });
}

template <class T>
TrustTensor tensor_of(const UpdateOperand& o, int64_t& used) {
  TrustTensor t{};
  t.tensor = {o.parameter.data,       o.master.data, o.gradient.data, {o.states[0].data, o.states[1].data},
              o.parameter.elements(), o.decays};
  t.relative = o.relative();
  t.squares = used;
  t.ratio = used + 2 * blocks_of(t);
  used = t.ratio + 1;
  return t;
}

}  // namespace

Prepared<UpdateStep> trust_update(const UpdateSpec& spec) {
  Prepared<UpdateStep> prepared;
  with_type(spec.type, [&]<class T>(Tag<T>) {
    std::vector<TrustTensor> tensors;
    std::vector<int64_t> blocks, one_each;
    int64_t used = 0;
    for (const UpdateOperand& o : spec.tensors) {
      tensors.push_back(tensor_of<T>(o, used));
      blocks.push_back(blocks_of(tensors.back()));
      one_each.push_back(blocks.back() > 0 ? 1 : 0);
    }
    prepared.workspace_bytes = aligned(used * static_cast<int64_t>(sizeof(double)));
    const auto by_blocks = std::make_shared<const WrittenTable<TrustTensor>>(tensors, blocks);
    const auto by_tensors = std::make_shared<const WrittenTable<TrustTensor>>(tensors, one_each);
    with_trust_rule<Math<Arithmetic<T>>>(spec.rule, [&]<class Rule>(std::type_identity<Rule>) {
      prepared.launch = [by_blocks, by_tensors, rule = spec.rule](const UpdateStep& step, const Stream& stream) {
        auto* const scratch = reinterpret_cast<double*>(stream.workspace);
        const Rules<Rule> rules(step);
        const double* const scale_at = step.gradient_scale.at;
        launch(measure<T, Rule>, {grid_of(by_blocks->blocks()), dim3(threads)}, stream, scratch, by_blocks->table(),
               rules, scale_at);
        launch(choose_ratio, {grid_of(by_tensors->blocks()), dim3(reducers)}, stream, scratch, by_tensors->table(),
               TrustRatio(rule, step), TrustRatio(rule, Rules<Rule>::without_decay(step)));
        launch(descend<T, Rule>, {grid_of(by_blocks->blocks()), dim3(threads)}, stream, scratch, by_blocks->table(),
               rules, scale_at);
      };
    });
  });
  return prepared;
}

}  // namespace rankscope::kernels::cuda
