// Products on a GPU: by cuBLASLt, and by a plain kernel of our own for what that refuses. Internal to kernels/cuda.
#pragma once
#include "kernels/matrix_product.hpp"

namespace rankscope::kernels::cuda {

/// A product as a column-major library sees it: memory is not moved, so C is taken for its transpose, and
/// Cᵀ[rows, columns] = left·right with B's memory on the left and A's on the right.
struct ColumnMajorProduct {
  std::int64_t rows = 0, columns = 0, depth = 0;
  bool left_transposed = false, right_transposed = false;
  /// The matrices as they lie in memory: rows (the leading dimension) and columns of left (B), right (A).
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

/// Our own kernel: any types, shapes and alignment, without an epilogue, at some percents of the library's speed. Sums
/// in fp32 (fp64 of fp64), in order of k.
std::shared_ptr<const MatrixProduct> make_plain_product(const ProductSpec& spec);

/// Null where cuBLASLt has no algorithm for it on this device, or is not to be asked (Options::fused_gelu, …).
/// `otherwise` takes operands that begin where the library's algorithm cannot.
std::shared_ptr<const MatrixProduct> make_library_product(const ProductSpec& spec, const Options& options,
                                                          std::shared_ptr<const MatrixProduct> otherwise);

/// By the library where it has the product; else plain, and with a pass of its own for an epilogue. Throws Unsupported
/// for types that neither has.
std::shared_ptr<const MatrixProduct> make_product(const ProductSpec& spec, const Options& options);

}  // namespace rankscope::kernels::cuda
