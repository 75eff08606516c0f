// The platform of a run: a device, the kernel set that runs on it, and the one for the host's own work. Chosen
// once, by name.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/scenario/run_choices.hpp"
#include "kernels/device/device.hpp"
#include "kernels/kernel_set.hpp"

namespace rankscope {

struct Platform {
  std::shared_ptr<Device> device;
  kernels::KernelSet kernels;       ///< launches use a stream of the device
  kernels::KernelSet host_kernels;  ///< launches run on the calling thread
  /// The libraries that multiply matrices on it, with versions: "oneDNN 2.6.3, OpenBLAS 0.3.21", "cuBLASLt 13.0.2 (its
  /// file)".
  std::string libraries{};
  std::string chip{};    ///< a GPU's name; empty: the host
  bool is_alone = true;  ///< no other process of the run uses the device
  /// Device::context_bytes; 0 if other processes use the device too, since it includes their memory.
  std::int64_t context_bytes() const { return is_alone ? device->context_bytes() : 0; }
};

/// A platform that computes, with this number of CPU threads for a launch on the host. Throws DeviceError if it cannot
/// be used here, with the reason in one line; std::invalid_argument for one that does not compute.
/// `gpu`: an index into gpus_here(); `gpu_options`: of its kernels.
std::shared_ptr<const Platform> open_platform(Choice<DeviceKind> device, int threads = 1, int gpu = 0,
                                              const kernels::Options& gpu_options = {});
/// PCI bus ids of the GPUs that this process may use; none on the device cpu, or in a build without CUDA.
std::vector<std::string> gpus_here();

/// Sets CUDA_DEVICE_MAX_CONNECTIONS for the device cuda, unless the environment sets it: with more than eight queues
/// (the lanes of several ranks) CUDA otherwise maps two of them to one connection, where one can block the other. CUDA
/// reads it at its first call: call this before that, and before there are other threads. ("CUDA environment variables"
/// in the CUDA programming guide.)
void prepare_platform(DeviceKind device);
/// Throws the same errors as open_platform, but allocates nothing on the device.
void check_platform(DeviceKind device);

}  // namespace rankscope
