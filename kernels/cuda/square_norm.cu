// Sums of squares, in fp64 for every element type: of one tensor, or of many in one launch and a sum.
#include <memory>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/ops.hpp"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/tensor_table.cuh"

namespace rankscope::kernels::cuda {
namespace {

constexpr int norm_threads = 256;
constexpr int64_t elements_per_partial = 16384;

struct NormTensor {
  const void* data = nullptr;
  int64_t elements = 0;
  bool packed = false;
};

template <class T>
NormTensor tensor_of(const View& x, int64_t elements) {
  return {x.data, elements, rows_are_packs(0, pack<T>, 16, {x.data})};
}
int64_t blocks_of(const NormTensor& tensor) { return pieces_of(tensor.elements, elements_per_partial); }

/// A thread's sum over its elements of a block.
template <class T, int V>
__device__ inline double square_sum(const T* x, int64_t begin, int64_t end) {
  double sum = 0;
  for (int64_t i = begin + int64_t{threadIdx.x} * V; i < end; i += norm_threads * V) {
    if (i + V <= end) {
      Arithmetic<T> value[V];
      load<V>(value, x + i);
#pragma unroll
      for (int v = 0; v < V; ++v) sum += static_cast<double>(value[v]) * static_cast<double>(value[v]);
    } else {
      for (int64_t j = i; j < end; ++j) {
        const double value = static_cast<double>(widen(x[j]));
        sum += value * value;
      }
    }
  }
  return sum;
}

/// partial[block] = sum of the squares of 16384 elements.
template <class T, class Tensors>
__global__ void __launch_bounds__(norm_threads)
    partial_square_norms(double* partial, const __grid_constant__ Tensors tensors) {
  int64_t block = blockIdx.x;
  const NormTensor tensor = tensors.find(block);
  const int64_t begin = block * elements_per_partial;
  const int64_t end = lesser(tensor.elements, begin + elements_per_partial);
  const T* x = static_cast<const T*>(tensor.data);
  const double sum = block_sum(tensor.packed ? square_sum<T, pack<T>>(x, begin, end) : square_sum<T, 1>(x, begin, end));
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

template <class T, class Tensors>
void sum_squares(double* out, const Tensors& tensors, int64_t blocks, bool accumulate, const Stream& stream) {
  auto* partial = reinterpret_cast<double*>(stream.workspace);
  launch(partial_square_norms<T, Tensors>, {grid_of(blocks), dim3(norm_threads)}, stream, partial, tensors);
  launch(sum_values, {grid_of(1), dim3(reducers)}, stream, out, partial, blocks, accumulate);
}

}  // namespace

Prepared<double*, View> square_norm(const FlatSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<double*, View> {
    return {aligned(pieces_of(spec.elements, elements_per_partial) * bytes_of(DType::f64)),
            [spec](double* out, View x, const Stream& stream) {
              const NormTensor tensor = tensor_of<T>(x, spec.elements);
              sum_squares<T>(out, OneTensor<NormTensor>{tensor}, blocks_of(tensor), spec.accumulate, stream);
            }};
  });
}

Prepared<double*> square_norms(const SquareNormsSpec& spec, const Options&) {
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<double*> {
    std::vector<NormTensor> tensors;
    std::vector<int64_t> blocks;
    for (const View& x : spec.tensors) {
      tensors.push_back(tensor_of<T>(x, x.elements()));
      blocks.push_back(blocks_of(tensors.back()));
    }
    const auto written = std::make_shared<const WrittenTable<NormTensor>>(tensors, blocks);
    return {aligned(written->blocks() * bytes_of(DType::f64)), [written](double* out, const Stream& stream) {
              sum_squares<T>(out, written->table(), written->blocks(), false, stream);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
