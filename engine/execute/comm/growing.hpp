// Memory beside what is moved, as large as a communicator has needed so far. For the files of this folder.
#pragma once
#include <utility>
#include <vector>

#include "kernels/device/device.hpp"

namespace rankscope::comm {

/// A GPU gives memory back only once all that was launched on it is done, and that may wait for a peer who waits for
/// what the calling thread launches next: so what was outgrown there is kept as long as this.
class GrowingMemory {
 public:
  /// Of at least so many bytes, which are the queue's to use until the next call. `reserve`: Device::reserve or
  /// Device::reserve_host. Content is not kept.
  std::byte* at_least(std::int64_t bytes, Device& device, Memory (Device::*reserve)(std::int64_t)) {
    if (bytes <= bytes_) return memory_.get();
    if (!device.is_host()) outgrown_.push_back(std::move(memory_));
    memory_ = (device.*reserve)(bytes);
    kept_ = device.is_host() ? bytes : kept_ + bytes;
    bytes_ = bytes;
    return memory_.get();
  }
  /// Of it and of what was outgrown.
  std::int64_t bytes() const { return kept_; }

 private:
  Memory memory_;
  std::int64_t bytes_ = 0, kept_ = 0;
  std::vector<Memory> outgrown_;
};

}  // namespace rankscope::comm
