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
  cpu::loops_for(DType::f32, options);  // throws for an instruction set that is not here
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
  set.bias_gradient = {all, cpu::bias_gradient};
  set.norm_forward = {all, cpu::norm_forward};
  set.norm_backward = {all, cpu::norm_backward};
  set.attention_forward = {all, cpu::attention_forward};
  set.attention_backward = {all, cpu::attention_backward};
  set.cross_entropy = {all, cpu::cross_entropy};
  set.embedding_forward = {all, cpu::embedding_forward};
  set.embedding_backward = {all, cpu::embedding_backward};
  set.dropout = {all, cpu::dropout};
  set.residual_sum = {all, cpu::residual_sum};
  set.token_embedding_forward = {all, cpu::token_embedding_forward};
  set.token_embedding_backward = {all, cpu::token_embedding_backward};
  set.position_embedding_forward = {all, cpu::position_embedding_forward};
  set.position_embedding_backward = {all, cpu::position_embedding_backward};
  set.vocabulary_numerators = {all, cpu::vocabulary_numerators};
  set.vocabulary_loss = {all, cpu::vocabulary_loss};
  set.convolution_forward = {all, cpu::convolution_forward};
  set.convolution_input_gradient = {all, cpu::convolution_input_gradient};
  set.convolution_weight_gradient = {all, cpu::convolution_weight_gradient};
  set.batch_norm_forward = {all, cpu::batch_norm_forward};
  set.batch_norm_backward = {all, cpu::batch_norm_backward};
  set.max_pool_forward = {all, cpu::max_pool_forward};
  set.max_pool_backward = {all, cpu::max_pool_backward};
  set.mean_pool_forward = {all, cpu::mean_pool_forward};
  set.mean_pool_backward = {all, cpu::mean_pool_backward};
  set.pixels = {all, cpu::pixels};
  set.add = {all, cpu::add};
  set.scale = {all, cpu::scale};
  set.square_norm = {all, cpu::square_norm};
  set.count_magnitudes = {all, cpu::count_magnitudes};
  set.clip_coefficient = {all, cpu::clip_coefficient};
  set.update = {all, cpu::update};
  return set;
}

std::string cpu_libraries() {
  const dnnl_version_t& onednn = *dnnl_version();
  return fmt::format("oneDNN {}.{}.{}, {}", onednn.major, onednn.minor, onednn.patch, cpu::openblas_version());
}

}  // namespace rankscope::kernels
