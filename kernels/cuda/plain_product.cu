// Matrix products without a library: tiles of 32 × 32 in shared memory, four results per thread.
#include "kernels/cuda/bias.hpp"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/matrix_product.hpp"

namespace rankscope::kernels::cuda {
namespace {

constexpr int tile = 32, tile_rows = 8, results = tile / tile_rows;

/// Row i, column k of a factor is at i·row + k·step.
struct Factor {
  const void* data;
  int64_t row, step;
};

template <class T, class R>
__global__ void __launch_bounds__(tile* tile_rows)
    multiply(R* c, const Factor a, const Factor b, const T* bias, const R* residual, int64_t m, int64_t n, int64_t k,
             bool accumulate) {
  using A = Arithmetic<T>;
  __shared__ A left[tile][tile + 1], right[tile][tile + 1];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int64_t first_row = int64_t{blockIdx.x} * tile, first_column = int64_t{blockIdx.y} * tile;
  A sum[results] = {};
  for (int64_t begin = 0; begin < k; begin += tile) {
    __syncthreads();
    // Threads with neighbouring x read neighbouring addresses, for both layouts of the factor.
    for (int i = y; i < tile; i += tile_rows) {
      const int row = a.step == 1 ? i : x, depth = a.step == 1 ? x : i;
      const bool inside = first_row + row < m && begin + depth < k;
      left[row][depth] =
          inside ? widen(static_cast<const T*>(a.data)[(first_row + row) * a.row + (begin + depth) * a.step]) : A(0);
      const int column = b.row == 1 ? x : i, below = b.row == 1 ? i : x;
      const bool within = first_column + column < n && begin + below < k;
      right[below][column] =
          within ? widen(static_cast<const T*>(b.data)[(first_column + column) * b.row + (begin + below) * b.step])
                 : A(0);
    }
    __syncthreads();
    for (int d = 0; d < tile; ++d)
#pragma unroll
      for (int i = 0; i < results; ++i) sum[i] = fused(left[y + i * tile_rows][d], right[d][x], sum[i]);
  }
  const int64_t column = first_column + x;
  if (column >= n) return;
#pragma unroll
  for (int i = 0; i < results; ++i) {
    const int64_t row = first_row + y + i * tile_rows;
    if (row >= m) return;
    R* to = c + row * n + column;
    A value = sum[i];
    if (bias != nullptr) value += widen(bias[column]);
    if (residual != nullptr) value += widen(residual[row * n + column]);
    if (accumulate) value += widen(*to);
    *to = narrow<R>(value);
  }
}

template <class T, class R>
class PlainProduct final : public MatrixProduct {
 public:
  explicit PlainProduct(const ProductSpec& spec) : spec_(spec) {}
  std::int64_t workspace_bytes() const override { return 0; }
  void run(const ProductOperands& operands, const Stream& stream) const override {
    const Factor a{operands.a, spec_.a_transposed ? 1 : spec_.k, spec_.a_transposed ? spec_.m : 1};
    const Factor b{operands.b, spec_.b_transposed ? spec_.k : 1, spec_.b_transposed ? 1 : spec_.n};
    launch(multiply<T, R>, {grid_of(pieces_of(spec_.m, tile), pieces_of(spec_.n, tile)), dim3(tile, tile_rows)}, stream,
           static_cast<R*>(operands.c), a, b, static_cast<const T*>(operands.bias),
           static_cast<const R*>(operands.residual), spec_.m, spec_.n, spec_.k, spec_.accumulate);
  }

 private:
  ProductSpec spec_;
};

template <class R, class T>
struct AddBias {
  R* c;
  const T* bias;
  int64_t width;
  template <int V>
  __device__ void apply(int64_t first) const {
    Arithmetic<R> value[V];
    load<V>(value, c + first);
    for (int v = 0; v < V; ++v) value[v] += widen(bias[(first + v) % width]);
    store(c + first, value);
  }
};

}  // namespace

void add_bias(void* c, DType result_type, const void* bias, DType type, int64_t rows, int64_t width,
              const Stream& stream) {
  with_type(type, [&]<class T>(Tag<T>) {
    const auto add = [&]<class R>(Tag<R>) {
      for_each_element<R>(rows * width, {c}, AddBias<R, T>{static_cast<R*>(c), static_cast<const T*>(bias), width},
                          stream);
    };
    if (result_type == type)
      add(Tag<T>{});
    else
      add(Tag<Arithmetic<T>>{});
  });
}

std::shared_ptr<const MatrixProduct> make_plain_product(const ProductSpec& spec) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> std::shared_ptr<const MatrixProduct> {
    if (spec.result == spec.type) return std::make_shared<PlainProduct<T, T>>(spec);
    if (spec.result == wide(spec.type)) return std::make_shared<PlainProduct<T, Arithmetic<T>>>(spec);
    throw Unsupported("the kernel set 'cuda' has no product in " + std::string(rankscope::name_of(spec.type)) +
                      " with a result in " + std::string(rankscope::name_of(spec.result)));
  });
}

}  // namespace rankscope::kernels::cuda
