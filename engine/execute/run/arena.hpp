// The memory that a rank's program runs in, reserved once: one block on the device, and one on the host (for
// buffers with Buffer::host), whose offsets continue after the device's.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/device/device.hpp"
#include "kernels/tensor/view.hpp"

namespace rankscope {

/// All of it is resident and filled with 0xFF: as floating point that is NaN, so an unwritten tensor makes the loss
/// NaN.
class Arena {
 public:
  /// Throws std::bad_alloc, DeviceError.
  Arena(Device& device, std::int64_t bytes, std::int64_t host_bytes = 0);
  /// Addresses without memory, for binding ops that are never launched: reading or writing them is a segmentation
  /// fault. Throws std::bad_alloc.
  static Arena addresses(std::int64_t bytes);

  std::int64_t bytes() const { return bytes_ + host_bytes_; }
  View view(std::int64_t offset, DType type, Shape shape) const {
    return {offset < bytes_ || host_bytes_ == 0 ? device_.get() + offset : host_.get() + (offset - bytes_), type,
            shape};
  }

 private:
  Arena() = default;
  std::int64_t bytes_ = 0, host_bytes_ = 0;
  Memory device_, host_;
};

}  // namespace rankscope
