#include "engine/execute/run/platform.hpp"

#include <cstdlib>

#include "engine/execute/run/gpu_platform.hpp"
#include "engine/execute/run/host_platform.hpp"

namespace rankscope {

std::shared_ptr<const Platform> open_platform(Choice<DeviceKind> device, int threads, int gpu,
                                              const kernels::Options& gpu_options) {
  switch (device) {
    case DeviceKind::cpu: return open_host_platform(threads);
    case DeviceKind::cuda: return open_gpu_platform(threads, gpu, gpu_options);
    case DeviceKind::sleep: break;
  }
  throw std::invalid_argument("the device sleep computes nothing");
}

std::vector<std::string> gpus_here() { return gpu_bus_ids(); }

void prepare_platform(DeviceKind device) {
  constexpr const char* most = "32";  // queues that CUDA can keep separate
  if (device == DeviceKind::cuda) setenv("CUDA_DEVICE_MAX_CONNECTIONS", most, 0);
}

void check_platform(DeviceKind device) {
  if (device == DeviceKind::cuda) check_gpu_platform();
}

}  // namespace rankscope
