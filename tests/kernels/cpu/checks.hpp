// One check per op: compares a kernel set's op with plain double loops over a range of shapes.
#pragma once
#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::test {

void check_linear_forward(const KernelSet& set, DType type);
void check_linear_input_gradient(const KernelSet& set, DType type);
void check_linear_weight_gradient(const KernelSet& set, DType type);
void check_bias_gradient(const KernelSet& set, DType type);
void check_norm_forward(const KernelSet& set, DType type);
void check_norm_backward(const KernelSet& set, DType type);
void check_gelu_forward(const KernelSet& set, DType type);
void check_gelu_backward(const KernelSet& set, DType type);
void check_attention_forward(const KernelSet& set, DType type);
void check_attention_backward(const KernelSet& set, DType type);
void check_cross_entropy(const KernelSet& set, DType type);
void check_embedding_forward(const KernelSet& set, DType type);
void check_embedding_backward(const KernelSet& set, DType type);
void check_dropout(const KernelSet& set, DType type);
void check_residual_sum(const KernelSet& set, DType type);
void check_token_embedding_forward(const KernelSet& set, DType type);
void check_token_embedding_backward(const KernelSet& set, DType type);
void check_position_embedding_forward(const KernelSet& set, DType type);
void check_position_embedding_backward(const KernelSet& set, DType type);
void check_vocabulary_numerators(const KernelSet& set, DType type);
void check_vocabulary_loss(const KernelSet& set, DType type);
void check_add(const KernelSet& set, DType type);
void check_scale(const KernelSet& set, DType type);
void check_square_norm(const KernelSet& set, DType type);
void check_sgd_update(const KernelSet& set, DType type);
void check_momentum_update(const KernelSet& set, DType type);
void check_adagrad_update(const KernelSet& set, DType type);
void check_adam_update(const KernelSet& set, DType type);
void check_adamw_update(const KernelSet& set, DType type);
void check_radam_update(const KernelSet& set, DType type);
void check_adam8bit_update(const KernelSet& set, DType type);
void check_sophia_update(const KernelSet& set, DType type);
void check_adafactor_update(const KernelSet& set, DType type);

inline DType wide(DType type) { return type == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace rankscope::kernels::test
