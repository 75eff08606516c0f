// Dropout, and the sum of a branch and the residual stream (bias, dropout and sum in one pass). A thread has four
// neighbours of a row: one block of the generator. The mask is a function of the row's global index, so it is drawn
// again in backward instead of stored.
#include <string>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/ops.hpp"
#include "kernels/tensor/random.hpp"

namespace rankscope::kernels::cuda {
namespace {

struct Mask {
  std::uint64_t key, stream, threshold;
  int64_t first_row;
  double factor;
};

Mask mask_of(const DropoutSpec& spec, const DropoutDraw& draw) {
  return {draw.seed + draw.step * 0x9E3779B97F4A7C15u, random_stream(RandomPurpose::dropout, spec.site),
          drop_threshold(spec.probability), draw.first_row, 1 / (1 - spec.probability)};
}

constexpr int threads = 256, group = 4;

/// y = residual + dropped (x + bias); bias and residual may be null. `packed`: rows are complete groups, aligned.
template <class T, bool packed, bool drops>
__global__ void __launch_bounds__(threads)
    drop(T* y, const T* x, const T* bias, const T* residual, int64_t rows, int64_t width, const Mask mask) {
  using A = Arithmetic<T>;
  const int64_t groups = (width + group - 1) / group, index = int64_t{blockIdx.x} * threads + threadIdx.x;
  if (index >= rows * groups) return;
  const int64_t row = index / groups, column = index % groups * group, at = row * width + column;
  A factor[group] = {A(1), A(1), A(1), A(1)};
  if constexpr (drops) {
    const RandomBlock words = random_block(
        mask.key, mask.stream, static_cast<std::uint64_t>((mask.first_row + row) * groups + column / group));
#pragma unroll
    for (int i = 0; i < group; ++i) factor[i] = words.word[i] < mask.threshold ? A(0) : static_cast<A>(mask.factor);
  }
  if constexpr (packed) {
    A value[group], other[group];
    load<group>(value, x + at);
    if (bias != nullptr) {
      load<group>(other, bias + column);
#pragma unroll
      for (int i = 0; i < group; ++i) value[i] += other[i];
    }
#pragma unroll
    for (int i = 0; i < group; ++i) value[i] *= factor[i];
    if (residual != nullptr) {
      load<group>(other, residual + at);
#pragma unroll
      for (int i = 0; i < group; ++i) value[i] += other[i];
    }
    store(y + at, value);
  } else {
#pragma unroll
    for (int i = 0; i < group; ++i) {
      if (column + i >= width) return;
      A value = widen(x[at + i]);
      if (bias != nullptr) value += widen(bias[column + i]);
      value *= factor[i];
      if (residual != nullptr) value += widen(residual[at + i]);
      y[at + i] = narrow<T>(value);
    }
  }
}

void check_probability(const DropoutSpec& spec, const char* op) {
  if (!(spec.probability >= 0 && spec.probability < 1))
    throw Unsupported(std::string(op) + " needs a probability of at least 0 and below 1, not " +
                      std::to_string(spec.probability));
}

template <class T>
void drop_all(const DropoutSpec& spec, View y, View x, View bias, View residual, const DropoutDraw& draw,
              const Stream& stream) {
  constexpr std::int64_t group_bytes = group * sizeof(T) < 16 ? group * sizeof(T) : 16;
  const bool packed = rows_are_packs(spec.width, group, group_bytes, {y.data, x.data, bias.data, residual.data});
  const bool drops = spec.probability > 0;
  const auto kernel = packed ? (drops ? drop<T, true, true> : drop<T, true, false>)
                             : (drops ? drop<T, false, true> : drop<T, false, false>);
  const int64_t groups = spec.rows * pieces_of(spec.width, group);
  launch(kernel, {grid_of(pieces_of(groups, threads)), dim3(threads)}, stream, y.as<T>(), x.as<const T>(),
         bias.as<const T>(), residual.as<const T>(), spec.rows, spec.width, mask_of(spec, draw));
}

}  // namespace

Prepared<View, View, View, DropoutDraw> dropout(const DropoutSpec& spec, const Options&) {
  check_probability(spec, "dropout");
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View, DropoutDraw> {
    return {0, [spec](View y, View x, View residual, DropoutDraw draw, const Stream& stream) {
              drop_all<T>(spec, y, x, View{}, spec.residual ? residual : View{}, draw, stream);
            }};
  });
}

Prepared<View, View, View, View, DropoutDraw> residual_sum(const DropoutSpec& spec, const Options&) {
  check_probability(spec, "residual_sum");
  return with_type(spec.type, [&]<class T>(Tag<T>) -> Prepared<View, View, View, View, DropoutDraw> {
    return {0, [spec](View y, View x, View bias, View residual, DropoutDraw draw, const Stream& stream) {
              drop_all<T>(spec, y, x, bias, residual, draw, stream);
            }};
  });
}

}  // namespace rankscope::kernels::cuda
