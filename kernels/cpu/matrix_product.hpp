// Products by oneDNN in fp32 and bf16 (fp16 widened to fp32) and by OpenBLAS in fp64. Internal to kernels/cpu.
#pragma once
#include "kernels/matrix_product.hpp"

namespace rankscope::kernels::cpu {

/// Throws Unsupported if neither library has it. If the CPU cannot multiply bf16, operands are widened to fp32 in the
/// workspace: the result is the same up to rounding, but slower. A launch itself allocates nothing; oneDNN creates a
/// map of the arguments, some hundred bytes that it frees at once.
std::shared_ptr<const MatrixProduct> make_product(const ProductSpec& spec, const Options& options);

/// True if oneDNN has optimised bf16 products on this machine (AVX-512 and up).
bool native_bf16_products();

}  // namespace rankscope::kernels::cpu
