// C[m, n] = A·B on a GPU, row-major: by cuBLASLt, and by a plain kernel of our own for what that refuses. Internal to
// kernels/cuda.
#pragma once
#include <cstdint>
#include <memory>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cuda {

struct ProductSpec {
  DType type = DType::f32;    ///< of A, B and the bias
  DType result = DType::f32;  ///< of C and the residual
  std::int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false;  ///< A lies in memory as [k, m], row-major
  bool b_transposed = false;  ///< B lies in memory as [n, k]
  bool bias = false;          ///< [n], added to every row of C
  bool residual = false;      ///< [m, n], added to C
  bool accumulate = false;    ///< C += instead of C =
};

/// Pointers of one product; those that the specification leaves out are null.
struct ProductOperands {
  void* c = nullptr;
  const void* a = nullptr;
  const void* b = nullptr;
  const void* bias = nullptr;
  const void* residual = nullptr;
};

/// The same product as a column-major library sees it: memory is not moved, so C is taken for its transpose, and
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

/// One prepared product. Its launches must not be made by several threads at the same time: each rank prepares its own.
class MatrixProduct {
 public:
  virtual ~MatrixProduct() = default;
  virtual std::int64_t workspace_bytes() const = 0;
  virtual void run(const ProductOperands& operands, const Stream& stream) const = 0;
};

/// By the library where it has the product, else plain. Throws Unsupported for types that neither has.
std::shared_ptr<const MatrixProduct> make_product(const ProductSpec& spec, const Options& options);

/// Our own kernel: any types, shapes and alignment, at some percents of the library's speed. Sums in fp32 (fp64 of
/// fp64), in order of k.
std::shared_ptr<const MatrixProduct> make_plain_product(const ProductSpec& spec);

/// Null where cuBLASLt has no algorithm for it on this device.
std::shared_ptr<const MatrixProduct> make_library_product(const ProductSpec& spec, const Options& options);

}  // namespace rankscope::kernels::cuda
