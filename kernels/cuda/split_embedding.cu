// Token and position embedding as separate ops, for tensor ranks: the token matrix is split over them by rows, and
// positions are added after the sum of the ranks' parts.
#include "kernels/cuda/gather.cuh"
#include "kernels/cuda/ops.hpp"

namespace rankscope::kernels::cuda {
namespace {

/// Rows of other ranks' tokens are zero.
template <class T, int V>
__global__ void __launch_bounds__(gather_threads) embed_tokens(T* y, const Words words, const T* wte, int64_t width) {
  const int64_t row = blockIdx.x, column = (int64_t{blockIdx.y} * gather_threads + threadIdx.x) * V;
  if (column >= width) return;
  const int64_t word = words.row_of(row);
  Arithmetic<T> value[V] = {};
  if (word >= 0) load<V>(value, wte + word * width + column);
  store(y + row * width + column, value);
}

template <class T, int V>
__global__ void __launch_bounds__(gather_threads)
    embed_positions(T* y, const T* x, const Positions positions, const T* wpe, int64_t width) {
  const int64_t row = blockIdx.x, column = (int64_t{blockIdx.y} * gather_threads + threadIdx.x) * V;
  if (column >= width) return;
  Arithmetic<T> value[V], position[V];
  load<V>(value, x + row * width + column);
  load<V>(position, wpe + positions.row_of(row) * width + column);
#pragma unroll
  for (int v = 0; v < V; ++v) value[v] += position[v];
  store(y + row * width + column, value);
}

}  // namespace

Prepared<View, View, View, std::int64_t> token_embedding_forward(const TokenEmbeddingSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View, std::int64_t> {
    return {0, [spec](View y, View tokens, View wte, std::int64_t first, const Stream& stream) {
              constexpr int v = pack<T>;
              const bool packed = rows_are_packs(spec.width, v, 16, {y.data, wte.data});
              launch(packed ? embed_tokens<T, v> : embed_tokens<T, 1>,
                     rows_and_columns(spec.rows, spec.width, packed ? v : 1), stream, y.as<T>(),
                     Words{tokens.as<const std::int32_t>(), first, spec.vocabulary}, wte.as<const T>(), spec.width);
            }};
  });
}

Prepared<View, View, View, std::int64_t> token_embedding_backward(const TokenEmbeddingSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View, std::int64_t> {
    return {chain_workspace(spec.rows),
            [spec](View dwte, View dy, View tokens, std::int64_t first, const Stream& stream) {
              token_gradient<T>(dwte, dy, Words{tokens.as<const std::int32_t>(), first, spec.vocabulary}, spec.rows,
                                spec.width, spec.accumulate, stream);
            }};
  });
}

Prepared<View, View, View, std::int64_t> position_embedding_forward(const PositionEmbeddingSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View, std::int64_t> {
    return {0, [spec](View y, View x, View wpe, std::int64_t first_row, const Stream& stream) {
              constexpr int v = pack<T>;
              const bool packed = rows_are_packs(spec.width, v, 16, {y.data, x.data, wpe.data});
              launch(packed ? embed_positions<T, v> : embed_positions<T, 1>,
                     rows_and_columns(spec.rows, spec.width, packed ? v : 1), stream, y.as<T>(), x.as<const T>(),
                     Positions{first_row, spec.context}, wpe.as<const T>(), spec.width);
            }};
  });
}

Prepared<View, View, std::int64_t> position_embedding_backward(const PositionEmbeddingSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, std::int64_t> {
    return {0, [spec](View dwpe, View dy, std::int64_t first_row, const Stream& stream) {
              position_gradient<T>(dwpe, dy, Positions{first_row, spec.context}, spec.rows, spec.width, spec.accumulate,
                                   stream);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
