// The GPU's kernel set: matrix products by cuBLASLt, attention by cuDNN where it is here, everything else by our
// own kernels.
#pragma once
#include <string>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels {

/// Ops of the CPU's set, in the same types, for compute capability 8.0 and up; those that are not here refuse by name.
/// All memory that launches are given (the workspace too, and the numbers that ops write, such as a loss or a square
/// norm) is the device's; Stream::handle is a cudaStream_t, and a launch only enqueues on it. Preparing and launching
/// need the device to be the calling thread's current one, and so does making the set, which is of that device.
/// `options.library` is the set's own. The same launches on the same operands give the same bits. Throws
/// std::runtime_error when cuBLASLt cannot be opened.
KernelSet cuda_kernels(Options options = {});

/// The libraries of such a set, with versions and files: "cuBLASLt 13.0.2 (/usr/lib/libcublasLt.so.13)", and cuDNN
/// where it computes attention.
std::string cuda_libraries(const KernelSet& set);

}  // namespace rankscope::kernels
