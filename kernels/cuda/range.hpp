// Named ranges of a thread for NVIDIA's profilers; empty if the toolkit has no NVTX, and very cheap while no profiler
// is attached. Internal to kernels/cuda.
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
