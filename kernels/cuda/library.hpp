// cuBLASLt, opened once for a kernel set. Internal to kernels/cuda.
#pragma once
#include <memory>
#include <string>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cuda {

/// Options::library of the set. Throws std::runtime_error if the library cannot be opened.
std::shared_ptr<void> open_library(const Options& options);

/// Of such a library: name, version and file.
std::string library_text(const Options& options);

}  // namespace rankscope::kernels::cuda
