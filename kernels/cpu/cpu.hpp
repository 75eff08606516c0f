// The CPU's kernel set: matrix products by oneDNN (fp32, bf16) and OpenBLAS (fp64), everything else by our own loops,
// compiled for several instruction sets and selected by the machine's features.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels {

/// All ops in fp64, fp32, bf16 and fp16; fp16 is storage, with fp32 arithmetic. Launches run on the calling thread and
/// `options.threads` - 1 OpenMP threads. Results do not depend on the number of threads, except those of matrix
/// products. Throws Unsupported for an instruction set that is unknown or that the machine lacks.
KernelSet cpu_kernels(Options options = {});

/// The libraries of matrix products and their versions: "oneDNN 2.6.3, OpenBLAS 0.3.21".
std::string cpu_libraries();

/// The instruction sets of our own loops that this machine has, the best one first.
std::vector<std::string_view> cpu_instruction_sets();

}  // namespace rankscope::kernels
