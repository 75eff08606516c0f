// Token and position embedding.
#include "kernels/cuda/gather.cuh"
#include "kernels/cuda/ops.hpp"

namespace rankscope::kernels::cuda {
namespace {

template <class T, int V>
__global__ void __launch_bounds__(gather_threads)
    embed(T* y, const Words words, const T* wte, const Positions positions, const T* wpe, int64_t width) {
  const int64_t row = blockIdx.x, column = (int64_t{blockIdx.y} * gather_threads + threadIdx.x) * V;
  const int64_t word = words.row_of(row);
  if (column >= width || word < 0) return;
  Arithmetic<T> token[V], position[V];
  load<V>(token, wte + word * width + column);
  load<V>(position, wpe + positions.row_of(row) * width + column);
#pragma unroll
  for (int v = 0; v < V; ++v) token[v] += position[v];
  store(y + row * width + column, token);
}

}  // namespace

Prepared<View, View, View, View> embedding_forward(const EmbeddingSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View, View> {
    return {0, [spec](View y, View tokens, View wte, View wpe, const Stream& stream) {
              constexpr int v = pack<T>;
              const bool packed = rows_are_packs(spec.width, v, 16, {y.data, wte.data, wpe.data});
              launch(packed ? embed<T, v> : embed<T, 1>,
                     rows_and_columns(spec.samples * spec.context, spec.width, packed ? v : 1), stream, y.as<T>(),
                     Words{tokens.as<const std::int32_t>(), 0, spec.vocabulary}, wte.as<const T>(),
                     Positions{0, spec.context}, wpe.as<const T>(), spec.width);
            }};
  });
}

Prepared<View, View, View, View> embedding_backward(const EmbeddingSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View, View> {
    const int64_t rows = spec.samples * spec.context;
    return {chain_workspace(rows), [spec, rows](View dwte, View dwpe, View dy, View tokens, const Stream& stream) {
              token_gradient<T>(dwte, dy, Words{tokens.as<const std::int32_t>(), 0, spec.vocabulary}, rows, spec.width,
                                spec.accumulate_tokens, stream);
              position_gradient<T>(dwpe, dy, Positions{0, spec.context}, rows, spec.width, spec.accumulate_positions,
                                   stream);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
