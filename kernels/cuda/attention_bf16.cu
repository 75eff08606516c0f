#include "kernels/cuda/attention_tensor.cuh"

template struct rankscope::kernels::cuda::TensorAttention<rankscope::kernels::cuda::Bf16>;
