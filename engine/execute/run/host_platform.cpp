#include "engine/execute/run/host_platform.hpp"

#include "kernels/cpu/cpu.hpp"
#include "kernels/device/host.hpp"

namespace rankscope {

std::shared_ptr<const Platform> open_host_platform(int threads) {
  const kernels::KernelSet set = kernels::cpu_kernels({.threads = threads});
  return std::make_shared<Platform>(Platform{std::make_shared<HostDevice>(), set, set, kernels::cpu_libraries()});
}

}  // namespace rankscope
