// cuBLASLt, opened once for a kernel set. Internal to kernels/cuda.
#pragma once
#include <memory>

namespace rankscope::kernels::cuda {

/// Options::library of the set. Throws std::runtime_error when the library cannot be opened.
std::shared_ptr<void> open_library();

}  // namespace rankscope::kernels::cuda
