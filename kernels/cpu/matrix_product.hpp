// C[m, n] = A·B, by oneDNN in fp32 and bf16 (fp16 widened to fp32) and by OpenBLAS in fp64. Internal to kernels/cpu.
#pragma once
#include <cstdint>
#include <memory>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cpu {

struct ProductSpec {
  DType type = DType::f32;    ///< of A, B, the bias and the residual
  DType result = DType::f32;  ///< of C
  std::int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false;  ///< A lies in memory as [k, m], row-major
  bool b_transposed = false;  ///< B lies in memory as [n, k]
  bool bias = false;          ///< [n], added to every row of C
  bool residual = false;      ///< [m, n] of the result's type, added to C
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

/// One prepared product. Its launches must not run at the same time on several threads: each rank prepares its own.
/// A launch allocates nothing itself; oneDNN makes a map of the arguments, some hundred bytes that it frees at once.
class MatrixProduct {
 public:
  virtual ~MatrixProduct() = default;
  virtual std::int64_t workspace_bytes() const = 0;
  virtual void run(const ProductOperands& operands, std::byte* workspace) = 0;
};

/// Throws Unsupported when neither library has it. Where the CPU cannot multiply bf16, operands are widened to fp32 in
/// the workspace: the result is the same to rounding, slower.
std::shared_ptr<MatrixProduct> make_product(const ProductSpec& spec, const Options& options);

/// True where oneDNN has optimised bf16 products on this machine (AVX-512 and up).
bool native_bf16_products();

}  // namespace rankscope::kernels::cpu
