// Marks functions that GPU kernels also use; empty if CUDA is not compiled.
#pragma once

#if defined(__CUDACC__)
#define RANKSCOPE_HOST_DEVICE __host__ __device__
#else
#define RANKSCOPE_HOST_DEVICE
#endif
