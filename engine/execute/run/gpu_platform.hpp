// The platform "cuda": gpu_platform.cpp if it is built in, otherwise no_gpu_platform.cpp. For platform.cpp.
#pragma once
#include "engine/execute/run/platform.hpp"

namespace rankscope {

/// Throws DeviceError if there is no usable GPU.
void check_gpu_platform();
/// A GPU that this process may use, by its index in gpu_bus_ids(). Throws DeviceError.
std::shared_ptr<const Platform> open_gpu_platform(int threads, int gpu, const kernels::Options& options);
std::vector<std::string> gpu_bus_ids();

}  // namespace rankscope
