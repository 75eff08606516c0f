// The replacement of gpu_platform.cpp in a build without CUDA.
#include "engine/execute/run/gpu_platform.hpp"

namespace rankscope {

void check_gpu_platform() {
  throw DeviceError(
      "the device 'cuda' is not in this build: install the CUDA toolkit (12 or later, with cuBLASLt) and configure "
      "again, or use --device cpu");
}

std::shared_ptr<const Platform> open_gpu_platform(int, int, const kernels::Options&) {
  check_gpu_platform();
  return nullptr;
}

std::vector<std::string> gpu_bus_ids() { return {}; }

}  // namespace rankscope
