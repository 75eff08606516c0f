// Marks functions that kernels on a GPU use too; nothing where no CUDA is compiled.
#pragma once

#if defined(__CUDACC__)
#define RANKSCOPE_HOST_DEVICE __host__ __device__
#else
#define RANKSCOPE_HOST_DEVICE
#endif
