// For builds without cuDNN.
#include "kernels/cuda/attention_library.hpp"

namespace rankscope::kernels::cuda {

std::unique_ptr<AttentionLibrary> find_attention_library(std::string&) { return nullptr; }

}  // namespace rankscope::kernels::cuda
