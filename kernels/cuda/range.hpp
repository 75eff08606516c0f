// Named ranges of a thread for NVIDIA's profilers; nothing where the toolkit is without NVTX, and next to nothing where
// no profiler looks. Internal to kernels/cuda.
#pragma once
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

namespace rankscope::kernels::cuda {
inline void begin_range(const char* name) { nvtxRangePushA(name); }
inline void end_range() { nvtxRangePop(); }
}  // namespace rankscope::kernels::cuda
#else
namespace rankscope::kernels::cuda {
inline void begin_range(const char*) {}
inline void end_range() {}
}  // namespace rankscope::kernels::cuda
#endif
