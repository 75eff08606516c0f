// One check per op: compares a kernel set's op with simple double loops over a range of shapes.
#pragma once
#include <string>
#include <vector>

#include "kernels/kernel_set.hpp"
#include "tests/kernels/cpu/tensors.hpp"

namespace rankscope::kernels::test {

void check_linear_forward(const SetUnderTest& set, DType type);
void check_linear_gelu_forward(const SetUnderTest& set, DType type);
void check_linear_input_gradient(const SetUnderTest& set, DType type);
void check_linear_gelu_input_gradient(const SetUnderTest& set, DType type);
void check_linear_weight_gradient(const SetUnderTest& set, DType type);
void check_bias_gradient(const SetUnderTest& set, DType type);
void check_norm_forward(const SetUnderTest& set, DType type);
void check_norm_backward(const SetUnderTest& set, DType type);
void check_attention_forward(const SetUnderTest& set, DType type);
void check_attention_backward(const SetUnderTest& set, DType type);
void check_rotary_forward(const SetUnderTest& set, DType type);
void check_rotary_backward(const SetUnderTest& set, DType type);
void check_swiglu_forward(const SetUnderTest& set, DType type);
void check_swiglu_backward(const SetUnderTest& set, DType type);
void check_cross_entropy(const SetUnderTest& set, DType type);
void check_embedding_forward(const SetUnderTest& set, DType type);
void check_embedding_backward(const SetUnderTest& set, DType type);
void check_dropout(const SetUnderTest& set, DType type);
void check_residual_sum(const SetUnderTest& set, DType type);
void check_token_embedding_forward(const SetUnderTest& set, DType type);
void check_token_embedding_backward(const SetUnderTest& set, DType type);
void check_position_embedding_forward(const SetUnderTest& set, DType type);
void check_position_embedding_backward(const SetUnderTest& set, DType type);
void check_vocabulary_numerators(const SetUnderTest& set, DType type);
void check_vocabulary_loss(const SetUnderTest& set, DType type);
void check_convolution_forward(const SetUnderTest& set, DType type);
void check_convolution_input_gradient(const SetUnderTest& set, DType type);
void check_convolution_weight_gradient(const SetUnderTest& set, DType type);
void check_batch_norm_forward(const SetUnderTest& set, DType type);
void check_batch_norm_backward(const SetUnderTest& set, DType type);
void check_max_pool_forward(const SetUnderTest& set, DType type);
void check_max_pool_backward(const SetUnderTest& set, DType type);
void check_mean_pool_forward(const SetUnderTest& set, DType type);
void check_mean_pool_backward(const SetUnderTest& set, DType type);
void check_pixels(const SetUnderTest& set, DType type);
void check_add(const SetUnderTest& set, DType type);
void check_scale(const SetUnderTest& set, DType type);
void check_square_norm(const SetUnderTest& set, DType type);
void check_count_magnitudes(const SetUnderTest& set, DType type);
void check_clip_coefficient(const SetUnderTest& set, DType type);
void check_update(const SetUnderTest& set, DType type);

/// The checks for every kernel set.
struct Check {
  std::string op;
  void (*run)(const SetUnderTest&, DType);
  std::vector<DType> types;  ///< of the CPU's set, which is the reference
};
const std::vector<Check>& all_checks();

inline DType wide(DType type) { return type == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace rankscope::kernels::test
