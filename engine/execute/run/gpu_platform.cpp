#include "engine/execute/run/gpu_platform.hpp"

#include <fmt/format.h>

#include "kernels/cpu/cpu.hpp"
#include "kernels/cuda/cuda.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/queue_device.hpp"

namespace rankscope {
namespace {

kernels::CudaDevice usable_gpu(int gpu) {
  std::string reason;
  const auto devices = kernels::cuda_devices(&reason);
  if (devices.empty()) throw DeviceError("the device 'cuda' cannot be used here: " + reason);
  if (gpu < 0 || static_cast<std::size_t>(gpu) >= devices.size())
    throw DeviceError(
        fmt::format("the device 'cuda' cannot be used here: there is no GPU number {} among {}", gpu, devices.size()));
  const kernels::CudaDevice& chosen = devices[gpu];
  if (chosen.major < 8)
    throw DeviceError(
        fmt::format("the device 'cuda' cannot be used here: {} has compute capability {}.{}, and 8.0 is the least",
                    chosen.name, chosen.major, chosen.minor));
  return chosen;
}

}  // namespace

void check_gpu_platform() { usable_gpu(0); }

std::vector<std::string> gpu_bus_ids() {
  std::vector<std::string> ids;
  for (const kernels::CudaDevice& device : kernels::cuda_devices()) ids.push_back(device.bus_id);
  return ids;
}

std::shared_ptr<const Platform> open_gpu_platform(int threads, int gpu, const kernels::Options& options) {
  const kernels::CudaDevice chosen = usable_gpu(gpu);
  std::shared_ptr<Device> device = kernels::cuda_device(chosen.index);
  device->use();
  Platform platform{std::move(device), kernels::cuda_kernels(options), kernels::cpu_kernels({.threads = threads})};
  platform.libraries = kernels::cuda_libraries(platform.kernels);
  platform.chip = chosen.name;
  return std::make_shared<Platform>(std::move(platform));
}

}  // namespace rankscope
