// The emulated cuDNN, as tests see it: attention by its formula, in fp64. It refuses operands that are not aligned.
#pragma once
#include <cstdint>

namespace emulated {

enum class Cudnn {
  absent,  ///< as at first
  whole,
  without_kernels,
  refusing,  ///< it has kernels, and refuses them when they run
};
/// For sets that are made from now on, and what they run.
void set_cudnn(Cudnn has);

/// Passes that were launched since the program began.
std::uint64_t attention_passes();

}  // namespace emulated
