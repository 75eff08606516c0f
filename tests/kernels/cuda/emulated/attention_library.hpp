// The emulated cuDNN for tests: attention by its formula, in fp64. It refuses operands that are not aligned.
#pragma once
#include <cstdint>

namespace emulated {

enum class Cudnn {
  absent,  ///< the initial state
  whole,
  without_kernels,
  refusing,  ///< it has kernels, but they refuse to run
};
/// For sets created after this call, and their launches.
void set_cudnn(Cudnn has);

/// Passes launched since the program began.
std::uint64_t attention_passes();

}  // namespace emulated
