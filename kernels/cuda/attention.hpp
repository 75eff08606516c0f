// Causal attention on a GPU: the arguments of its kernels, and the two ways to compute it. Scores are never stored:
// forward keeps a running maximum and sum (Dao et al. 2022, arXiv 2205.14135), backward computes the probabilities
// again from the log-sum-exp, once for the gradients of keys and values and once for those of queries, so that no two
// blocks add to the same element. Internal to kernels/cuda.
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/kernel_set.hpp"
#include "kernels/tensor/host_device.hpp"

namespace rankscope::kernels::cuda {

struct AttentionShape {
  std::int64_t samples = 0, context = 0, heads = 0, depth = 0, width = 0;

  explicit AttentionShape(const AttentionSpec& spec)
      : samples(spec.samples),
        context(spec.context),
        heads(spec.heads),
        depth(spec.width / spec.heads),
        width(spec.width) {}

  std::int64_t all_heads() const { return samples * heads; }
  double root() const { return 1 / std::sqrt(static_cast<double>(depth)); }
  std::int64_t tiles(int rows) const { return (context + rows - 1) / rows; }
  RANKSCOPE_HOST_DEVICE std::int64_t row_stride() const { return 3 * width; }
};

/// The offsets of one head of one sample, from its first row and column.
struct HeadPlace {
  std::int64_t query, key, value;  ///< elements of qkv and its gradient
  std::int64_t out;                ///< of attended and its gradient
  std::int64_t statistic;          ///< of log_sum_exp and the rows' dots
};
RANKSCOPE_HOST_DEVICE inline HeadPlace place_of(const AttentionShape& shape, std::int64_t index) {
  const std::int64_t sample = index / shape.heads, head = index % shape.heads;
  const std::int64_t row = sample * shape.context, column = head * shape.depth;
  const std::int64_t query = row * 3 * shape.width + column;
  return {query, query + shape.width, query + 2 * shape.width, row * shape.width + column, index * shape.context};
}

struct ForwardOperands {
  void *attended, *log_sum_exp;
  const void* qkv;
};
struct BackwardOperands {
  void* dqkv;
  const void *dattended, *qkv, *log_sum_exp, *attended;
  void* dots;  ///< of a row's gradient and result, [samples, heads, context]; computed by the launch
};

/// Heads of at most this number of elements.
inline constexpr std::int64_t greatest_depth = 128;

/// Calls body with the smallest compiled depth that is not below the head's.
template <class Body>
void with_depth(std::int64_t depth, Body body) {
  if (depth <= 32) return body(std::integral_constant<int, 32>{});
  if (depth <= 64) return body(std::integral_constant<int, 64>{});
  body(std::integral_constant<int, greatest_depth>{});
}

// Tensor cores (T: Bf16, F16): depth a multiple of 8, all tensors at multiples of 16 bytes. Call `allow` once before.
template <class T>
struct TensorAttention {
  static void allow(const AttentionShape& shape);
  static void forward(const AttentionShape& shape, const ForwardOperands& operands, const Stream& stream);
  /// `operands.dots` must be computed before.
  static void backward(const AttentionShape& shape, const BackwardOperands& operands, const Stream& stream);
};

}  // namespace rankscope::kernels::cuda
