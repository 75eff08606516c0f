// The GPU's kernel set: matrix products by cuBLASLt, attention by cuDNN if it is available, everything else by our own
// kernels.
#pragma once
#include <string>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels {

/// Ops of the CPU's set, in the same types, for compute capability 8.0 and up; missing ones throw Unsupported. All
/// memory of a launch (also the workspace, and the numbers that ops write, such as a loss or a square norm) is the
/// device's; Stream::handle is a cudaStream_t, and a launch only enqueues on it. The device must be the calling
/// thread's current one for preparing, launching and creating the set, which belongs to that device. `options.library`
/// is created by the set. The same launches on the same operands give bit-identical results. Throws std::runtime_error
/// if cuBLASLt cannot be opened.
KernelSet cuda_kernels(Options options = {});

/// The libraries of such a set, with versions and files: "cuBLASLt 13.0.2 (/usr/lib/libcublasLt.so.13)", and cuDNN if
/// it computes attention.
std::string cuda_libraries(const KernelSet& set);

}  // namespace rankscope::kernels
