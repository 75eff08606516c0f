#include "kernels/cpu/cpu.hpp"

#include <fmt/format.h>

#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/matrix_product.hpp"
#include "kernels/cpu/onednn.hpp"
#include "kernels/cpu/openblas.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/linear.hpp"

namespace rankscope::kernels {

KernelSet cpu_kernels(Options options) {
  cpu::loops_for(DType::f32, options);  // throws for an instruction set that the machine lacks
  cpu::keep_openblas_single();
  const std::vector<DType> all{DType::f64, DType::f32, DType::bf16, DType::f16};
  KernelSet set;
  set.name = "cpu";
  set.options = options;
  set.linear_forward = {all, Linear<cpu::make_product>::forward};
  set.linear_gelu_forward = {all, Linear<cpu::make_product>::gelu_forward};
  set.linear_input_gradient = {all, Linear<cpu::make_product>::input_gradient};
  set.linear_gelu_input_gradient = {all, Linear<cpu::make_product>::gelu_input_gradient};
  set.linear_weight_gradient = {all, Linear<cpu::make_product>::weight_gradient};
  set.convolution_forward = {all, cpu::convolution_forward};
  set.convolution_input_gradient = {all, cpu::convolution_input_gradient};
  set.convolution_weight_gradient = {all, cpu::convolution_weight_gradient};
#define RANKSCOPE_ENTER(op) set.op = {all, cpu::op};
  RANKSCOPE_OTHER_OPS(RANKSCOPE_ENTER);
#undef RANKSCOPE_ENTER
  return set;
}

std::string cpu_libraries() {
  const dnnl_version_t& onednn = *dnnl_version();
  return fmt::format("oneDNN {}.{}.{}, {}", onednn.major, onednn.minor, onednn.patch, cpu::openblas_version());
}

}  // namespace rankscope::kernels
