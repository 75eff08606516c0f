#include "kernels/cuda/cuda.hpp"

#include "kernels/cuda/attention_library.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/library.hpp"
#include "kernels/cuda/matrix_product.hpp"
#include "kernels/cuda/ops.hpp"
#include "kernels/cuda/unfold.hpp"
#include "kernels/linear.hpp"

namespace rankscope::kernels {

KernelSet cuda_kernels(Options options) {
  options.library = cuda::open_library(options);
  options.attention_library =
      options.library_attention && options.fused_attention ? cuda::open_attention_library(options) : nullptr;
  options.library_attention = options.attention_library != nullptr;
  options.logits_bytes = std::int64_t{512}
                         << 20;  // some thousand rows of GPT-2's vocabulary: a product that fills a GPU
  // GELU within a product is faster from compute capability 9.0 on; for bf16 it is slower before (karpathy/llm.c, pull
  // request 338 and the defaults of its train_gpt2.cu).
  const std::vector<CudaDevice> devices = cuda_devices();
  options.fused_gelu =
      options.fused_gelu && !devices.empty() && devices.at(static_cast<std::size_t>(current_cuda_device())).major >= 9;
  const std::vector<DType> all{DType::f64, DType::f32, DType::bf16, DType::f16};
  KernelSet set;
  set.name = "cuda";
  set.options = options;
  set.linear_forward = {all, Linear<cuda::make_product>::forward};
  set.linear_gelu_forward = {all, Linear<cuda::make_product>::gelu_forward};
  set.linear_input_gradient = {all, Linear<cuda::make_product>::input_gradient};
  set.linear_gelu_input_gradient = {all, Linear<cuda::make_product>::gelu_input_gradient};
  set.linear_weight_gradient = {all, Linear<cuda::make_product>::weight_gradient};
  using Convolution = UnfoldedConvolution<cuda::make_product, cuda::unfold_passes>;
  set.convolution_forward = {all, Convolution::forward};
  set.convolution_input_gradient = {all, Convolution::input_gradient};
  set.convolution_weight_gradient = {all, Convolution::weight_gradient};
  set.square_norms = {all, cuda::square_norms};
#define RANKSCOPE_ENTER(op) set.op = {all, cuda::op};
  RANKSCOPE_OTHER_OPS(RANKSCOPE_ENTER);
#undef RANKSCOPE_ENTER
  return set;
}

std::string cuda_libraries(const KernelSet& set) {
  const std::string products = cuda::library_text(set.options), attention = cuda::attention_library_text(set.options);
  return attention.empty() ? products : products + ", " + attention;
}

}  // namespace rankscope::kernels
