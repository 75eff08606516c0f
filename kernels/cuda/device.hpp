// A GPU's memory, queues and events as values that free themselves: the layer between programs and the CUDA
// runtime. It needs no CUDA header.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rankscope::kernels {

struct CudaDevice {
  int index = 0;  ///< the runtime's index
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0, l2_bytes = 0;
  std::string bus_id{};  ///< PCI's, the same for every process: "0000:3b:00.0"
};

/// The GPUs that this process can use; none if there is no driver or no device. `reason`, if given, then contains the
/// runtime's message.
std::vector<CudaDevice> cuda_devices(std::string* reason = nullptr);

/// Makes a GPU the calling thread's current one. This and all below throw DeviceError with CUDA's own message.
void use_cuda_device(int index);
/// The current one, by CudaDevice::index.
int current_cuda_device();

/// Used memory of the current device, by this process's context and by other programs.
std::int64_t cuda_used_bytes();

/// Memory of the current device, aligned to 256 bytes; not initialised.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::int64_t bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Host memory whose copies from and to a device need no staging: they run in parallel with other work.
class PinnedMemory {
 public:
  explicit PinnedMemory(std::int64_t bytes);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
};

class DeviceEvent;

/// A queue of the current device: its work runs in order, in parallel with other queues.
class DeviceStream {
 public:
  DeviceStream();
  ~DeviceStream();
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;
  /// For kernels::Stream::handle.
  void* handle() const { return handle_; }
  /// Either end may be the host's (pinned, or the call waits) or the device's.
  void copy(void* to, const void* from, std::int64_t bytes);
  void fill(void* to, std::uint8_t byte, std::int64_t bytes);
  /// Later work waits for the event on the device; this call does not. For an event that was never recorded there is no
  /// wait.
  void wait_for(const DeviceEvent& event);
  /// Waits until all enqueued work is done; throws its errors.
  void synchronise();

 private:
  void* handle_ = nullptr;
};

/// A position in a queue, with the device's time there.
class DeviceEvent {
 public:
  DeviceEvent();
  ~DeviceEvent();
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
  void record(DeviceStream& stream);
  /// Whether all work enqueued before it is done; throws its errors.
  bool reached() const;
  /// Blocks the calling thread until then, sleeping.
  void wait() const;
  /// From an earlier event, in nanoseconds (the device's clock has a resolution of about half a microsecond); both must
  /// be reached.
  double nanoseconds_since(const DeviceEvent& earlier) const;
  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

}  // namespace rankscope::kernels
