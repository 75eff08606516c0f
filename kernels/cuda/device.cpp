#include "kernels/cuda/device.hpp"

#include <cuda_runtime.h>

#include <cstdio>
#include <utility>

#include "kernels/device/device.hpp"

namespace rankscope::kernels {
namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw DeviceError(std::string("CUDA: ") + what + ": " + cudaGetErrorName(error) + ": " + cudaGetErrorString(error));
}

cudaStream_t stream_of(void* handle) { return static_cast<cudaStream_t>(handle); }
cudaEvent_t event_of(void* handle) { return static_cast<cudaEvent_t>(handle); }
std::string bus_id_of(const cudaDeviceProp& properties) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", static_cast<unsigned>(properties.pciDomainID),
                static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID));
  return text;
}
std::size_t size_of(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }

}  // namespace

std::vector<CudaDevice> cuda_devices(std::string* reason) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    if (reason) *reason = cudaGetErrorString(error);
    static_cast<void>(cudaGetLastError());  // clears the error for later calls
    return {};
  }
  if (count == 0 && reason) *reason = "the driver knows no device";
  std::vector<CudaDevice> devices;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, i), "reading a device's properties");
    devices.push_back({i, properties.name, properties.major, properties.minor, properties.multiProcessorCount,
                       static_cast<std::int64_t>(properties.totalGlobalMem), properties.l2CacheSize,
                       bus_id_of(properties)});
  }
  return devices;
}

int current_cuda_device() {
  int index = 0;
  check(cudaGetDevice(&index), "asking for the current device");
  return index;
}

void use_cuda_device(int index) { check(cudaSetDevice(index), "choosing a device"); }

std::int64_t cuda_used_bytes() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for free memory");
  return static_cast<std::int64_t>(total - free);
}

DeviceMemory::DeviceMemory(std::int64_t bytes) : bytes_(bytes) {
  void* data = nullptr;
  if (bytes > 0) {
    const std::string what = "reserving " + std::to_string(bytes) + " bytes of device memory";
    check(cudaMalloc(&data, size_of(bytes)), what.c_str());
  }
  data_ = static_cast<std::byte*>(data);
}
DeviceMemory::~DeviceMemory() {
  if (data_ != nullptr) cudaFree(data_);  // for null it would create a context, on whatever device is current
}
DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

PinnedMemory::PinnedMemory(std::int64_t bytes) {
  void* data = nullptr;
  check(cudaHostAlloc(&data, size_of(bytes), cudaHostAllocPortable), "reserving pinned memory");
  data_ = static_cast<std::byte*>(data);
}
PinnedMemory::~PinnedMemory() { cudaFreeHost(data_); }

DeviceStream::DeviceStream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  handle_ = stream;
}
DeviceStream::~DeviceStream() { cudaStreamDestroy(stream_of(handle_)); }

void DeviceStream::copy(void* to, const void* from, std::int64_t bytes) {
  if (bytes > 0) check(cudaMemcpyAsync(to, from, size_of(bytes), cudaMemcpyDefault, stream_of(handle_)), "copying");
}
void DeviceStream::fill(void* to, std::uint8_t byte, std::int64_t bytes) {
  if (bytes > 0) check(cudaMemsetAsync(to, byte, size_of(bytes), stream_of(handle_)), "filling memory");
}
void DeviceStream::wait_for(const DeviceEvent& event) {
  check(cudaStreamWaitEvent(stream_of(handle_), event_of(event.handle()), 0), "waiting for an event");
}
void DeviceStream::synchronise() { check(cudaStreamSynchronize(stream_of(handle_)), "waiting for a stream"); }

DeviceEvent::DeviceEvent() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventBlockingSync), "making an event");
  handle_ = event;
}
DeviceEvent::~DeviceEvent() { cudaEventDestroy(event_of(handle_)); }
void DeviceEvent::record(DeviceStream& stream) {
  check(cudaEventRecord(event_of(handle_), stream_of(stream.handle())), "recording an event");
}
bool DeviceEvent::reached() const {
  const cudaError_t state = cudaEventQuery(event_of(handle_));
  if (state == cudaErrorNotReady) return false;
  check(state, "asking for an event");
  return true;
}
void DeviceEvent::wait() const { check(cudaEventSynchronize(event_of(handle_)), "waiting for an event"); }
double DeviceEvent::nanoseconds_since(const DeviceEvent& earlier) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, event_of(earlier.handle_), event_of(handle_)), "reading a time");
  return static_cast<double>(milliseconds) * 1e6;
}

}  // namespace rankscope::kernels
