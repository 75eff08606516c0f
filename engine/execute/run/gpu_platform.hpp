// The platform "cuda": gpu_platform.cpp where it is built in, no_gpu_platform.cpp where it is not. For platform.cpp.
#pragma once
#include "engine/execute/run/platform.hpp"

namespace rankscope {

/// Throws DeviceError where there is no GPU that can be used.
void check_gpu_platform();
/// A GPU that this process may use, by its number among gpu_bus_ids(). Throws DeviceError.
std::shared_ptr<const Platform> open_gpu_platform(int threads, int gpu, const kernels::Options& options);
std::vector<std::string> gpu_bus_ids();

}  // namespace rankscope
