// The rows of a head's logits for one product. Internal to engine/execute/layers.
#pragma once
#include <algorithm>

#include "engine/execute/layers/layers.hpp"

namespace rankscope {

/// Rows of `columns` logits that fit a product (Options::product_elements), at least 1 and at most `rows`. If many, a
/// multiple of 64: so the next rows begin at a multiple of 16 bytes, and tiles of kernels are full.
inline std::int64_t rows_of_product(const kernels::Options& options, std::int64_t columns, std::int64_t rows) {
  constexpr std::int64_t tile = 64;
  const std::int64_t most = std::max<std::int64_t>(options.product_elements / columns, 1);
  if (most >= rows) return rows;
  return most < tile ? most : most / tile * tile;
}

/// Rows that forward computes at a time: if softmax reads wider logits than are stored, at most Options::logits_bytes
/// of them.
inline std::int64_t rows_of_forward(const Binding& binding, std::int64_t columns) {
  const std::int64_t rows = rows_of_product(binding.kernels.options, columns, binding.tokens());
  const DType wide = binding.model.logits_type();
  if (wide == binding.model.type) return rows;
  return std::clamp<std::int64_t>(binding.kernels.options.logits_bytes / (columns * bytes_of(wide)), 1, rows);
}

/// Rows [first, first + count) of a matrix, or of a vector.
inline View rows_of(View matrix, std::int64_t first, std::int64_t count) {
  const std::int64_t width = matrix.elements() / matrix.shape[0];
  auto* data = static_cast<std::byte*>(matrix.data) + first * width * bytes_of(matrix.type);
  return {data, matrix.type, matrix.shape.rank == 1 ? Shape{count} : Shape{count, width}};
}

/// The gradients of logits = x·wᵀ, some rows at a time.
class LogitGradients {
 public:
  /// `linear`: of all rows. `adds`: the weight's gradient is added to the stored one.
  LogitGradients(Binding& binding, kernels::LinearSpec linear, bool adds);
  /// dx = dlogits·w.
  void input(View dx, View dlogits, View w, const kernels::Stream& stream) const;
  /// dw = or += dlogitsᵀ·x.
  void weight(View dw, View dlogits, View x, const kernels::Stream& stream) const;

 private:
  struct Rows {
    std::int64_t first = 0, count = 0;
    kernels::Prepared<View, View, View> input_gradient;
    kernels::Prepared<View, View, View, View> weight_gradient;
  };
  std::vector<Rows> blocks_;
};

}  // namespace rankscope
