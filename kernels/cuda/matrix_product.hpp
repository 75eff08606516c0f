// Products on a GPU: by cuBLASLt, and by our own plain kernel for products that it refuses. Internal to kernels/cuda.
#pragma once
#include "kernels/matrix_product.hpp"

namespace rankscope::kernels::cuda {

/// A product for a column-major library: memory is not moved, so C is considered as its transpose, and Cᵀ[rows,
/// columns] = left·right with B's memory on the left and A's on the right.
struct ColumnMajorProduct {
  std::int64_t rows = 0, columns = 0, depth = 0;
  bool left_transposed = false, right_transposed = false;
  /// The matrices in their memory layout: rows (the leading dimension) and columns of left (B), right (A).
  std::int64_t left_rows = 0, left_columns = 0, right_rows = 0, right_columns = 0;
};
constexpr ColumnMajorProduct column_major(const ProductSpec& spec) {
  ColumnMajorProduct p{spec.n, spec.m, spec.k, spec.b_transposed, spec.a_transposed, 0, 0, 0, 0};
  p.left_rows = spec.b_transposed ? spec.k : spec.n;
  p.left_columns = spec.b_transposed ? spec.n : spec.k;
  p.right_rows = spec.a_transposed ? spec.m : spec.k;
  p.right_columns = spec.a_transposed ? spec.k : spec.m;
  return p;
}

/// Our own kernel: any types, shapes and alignment, without an epilogue, at some percent of the library's speed. Sums
/// in fp32 (fp64 of fp64), in order of k.
std::shared_ptr<const MatrixProduct> make_plain_product(const ProductSpec& spec);

/// Null if cuBLASLt has no algorithm for it on this device, or must not be used (Options::fused_gelu, …). `otherwise`
/// computes products with operands that do not have the alignment of the library's algorithm.
std::shared_ptr<const MatrixProduct> make_library_product(const ProductSpec& spec, const Options& options,
                                                          std::shared_ptr<const MatrixProduct> otherwise);

/// By the library if it has the product; else plain, with a separate pass for an epilogue. Throws Unsupported for types
/// that neither has.
std::shared_ptr<const MatrixProduct> make_product(const ProductSpec& spec, const Options& options);

}  // namespace rankscope::kernels::cuda
