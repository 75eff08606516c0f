#include "engine/run/gpu_platform.hpp"

#include "kernels/cpu/cpu.hpp"
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/queue_device.hpp"

namespace rankscope {
namespace {

kernels::CudaDevice first_gpu() {
  std::string reason;
  const auto devices = kernels::cuda_devices(&reason);
  if (devices.empty()) throw DeviceError("the device 'cuda' cannot be used here: " + reason);
  const kernels::CudaDevice& first = devices.front();
  if (first.major < 8)
    throw DeviceError("the device 'cuda' cannot be used here: " + first.name + " has compute capability " +
                      std::to_string(first.major) + "." + std::to_string(first.minor) + ", and 8.0 is the least");
  return first;
}

}  // namespace

void check_gpu_platform() { first_gpu(); }

std::shared_ptr<const Platform> open_gpu_platform(int threads) {
  std::shared_ptr<Device> device = kernels::cuda_device(first_gpu().index);
  device->use();
  return std::make_shared<Platform>(
      Platform{std::move(device), kernels::cuda_kernels(), kernels::cpu_kernels({.threads = threads})});
}

}  // namespace rankscope
