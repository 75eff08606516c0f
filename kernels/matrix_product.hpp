// C[m, n] = A·B, row-major: the specification of every set's products.
#pragma once
#include <cstdint>
#include <memory>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels {

/// The epilogue: further work on a product's result in the same op.
enum class Epilogue : std::uint8_t {
  none,
  gelu,        ///< C = GELU of the result, which is written to `auxiliary`
  gelu_slope,  ///< C = the result times the slope of GELU at `auxiliary`
  row_sums,    ///< `auxiliary` [m], fp32 (fp64 of fp64) = or += sums of A over k, in addition to C
};

struct ProductSpec {
  DType type = DType::f32;    ///< of A, B and the bias
  DType result = DType::f32;  ///< of C and the residual
  std::int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false;  ///< A is stored as [k, m], row-major
  bool b_transposed = false;  ///< B is stored as [n, k]
  bool bias = false;          ///< [n], added to every row of C
  bool residual = false;      ///< [m, n], added to C
  bool accumulate = false;    ///< C += instead of C =
  /// `gelu` and `gelu_slope` need results of the type of A and B, neither accumulated nor with a residual.
  Epilogue epilogue = Epilogue::none;
  bool accumulate_sums = false;
};

/// Pointers of one product; those that the specification leaves out are null.
struct ProductOperands {
  void* c = nullptr;
  const void* a = nullptr;
  const void* b = nullptr;
  const void* bias = nullptr;
  const void* residual = nullptr;
  void* auxiliary = nullptr;  ///< of the epilogue
};

/// One prepared product. Its launches must not be made by several threads at the same time: each rank prepares its own.
class MatrixProduct {
 public:
  virtual ~MatrixProduct() = default;
  virtual std::int64_t workspace_bytes() const = 0;
  virtual void run(const ProductOperands& operands, const Stream& stream) const = 0;
};

/// A set's function to prepare one; throws Unsupported for types that it has no product in.
using MakeProduct = std::shared_ptr<const MatrixProduct>(const ProductSpec& spec, const Options& options);

}  // namespace rankscope::kernels
