#include "tests/kernels/cpu/checks.hpp"

namespace rankscope::kernels::test {

const std::vector<Check>& all_checks() {
  static const std::vector<DType> all{DType::f64, DType::f32, DType::bf16, DType::f16};
  static const std::vector<Check> checks{
      {"linear_forward", check_linear_forward, all},
      {"linear_gelu_forward", check_linear_gelu_forward, all},
      {"linear_input_gradient", check_linear_input_gradient, all},
      {"linear_gelu_input_gradient", check_linear_gelu_input_gradient, all},
      {"linear_weight_gradient", check_linear_weight_gradient, all},
      {"bias_gradient", check_bias_gradient, all},
      {"norm_forward", check_norm_forward, all},
      {"norm_backward", check_norm_backward, all},
      {"attention_forward", check_attention_forward, all},
      {"attention_backward", check_attention_backward, all},
      {"rotary_forward", check_rotary_forward, all},
      {"rotary_backward", check_rotary_backward, all},
      {"swiglu_forward", check_swiglu_forward, all},
      {"swiglu_backward", check_swiglu_backward, all},
      {"cross_entropy", check_cross_entropy, all},
      {"embedding_forward", check_embedding_forward, all},
      {"embedding_backward", check_embedding_backward, all},
      {"dropout", check_dropout, all},
      {"residual_sum", check_residual_sum, all},
      {"token_embedding_forward", check_token_embedding_forward, all},
      {"token_embedding_backward", check_token_embedding_backward, all},
      {"position_embedding_forward", check_position_embedding_forward, all},
      {"position_embedding_backward", check_position_embedding_backward, all},
      {"vocabulary_numerators", check_vocabulary_numerators, all},
      {"vocabulary_loss", check_vocabulary_loss, all},
      {"convolution_forward", check_convolution_forward, all},
      {"convolution_input_gradient", check_convolution_input_gradient, all},
      {"convolution_weight_gradient", check_convolution_weight_gradient, all},
      {"batch_norm_forward", check_batch_norm_forward, all},
      {"batch_norm_backward", check_batch_norm_backward, all},
      {"max_pool_forward", check_max_pool_forward, all},
      {"max_pool_backward", check_max_pool_backward, all},
      {"mean_pool_forward", check_mean_pool_forward, all},
      {"mean_pool_backward", check_mean_pool_backward, all},
      {"pixels", check_pixels, all},
      {"add", check_add, all},
      {"scale", check_scale, all},
      {"square_norm", check_square_norm, all},
      {"count_magnitudes", check_count_magnitudes, all},
      {"clip_coefficient", check_clip_coefficient, all},
      {"update", check_update, all},
  };
  return checks;
}

}  // namespace rankscope::kernels::test
