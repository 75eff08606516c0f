// The CPU's kernel set: matrix products by oneDNN (fp32, bf16) and OpenBLAS (fp64), everything else by our own loops,
// compiled for several instruction sets and chosen by what the machine has.
#pragma once
#include <string_view>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels {

/// All ops in fp64, fp32 and bf16. Launches run on the calling thread and `options.threads` - 1 OpenMP threads.
/// Results do not depend on the number of threads, except those of matrix products.
KernelSet cpu_kernels(Options options = {});

/// The instruction set that our own loops use on this machine: "x86-64-v2", "x86-64-v3" or "x86-64-v4".
std::string_view cpu_instruction_set();

}  // namespace rankscope::kernels
