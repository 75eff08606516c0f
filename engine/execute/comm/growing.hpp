// Scratch memory of a communicator, as large as needed so far. Only for this folder's files.
#pragma once
#include <utility>
#include <vector>

#include "kernels/device/device.hpp"

namespace rankscope::comm {

/// A GPU frees memory only after all launched work is done, and that may wait for a peer that waits for the next launch
/// of the calling thread: so memory that became too small is freed only with this object.
class GrowingMemory {
 public:
  /// At least this many bytes, for the queue to use until the next call. `reserve`: Device::reserve or
  /// Device::reserve_host. The content is not preserved.
  std::byte* at_least(std::int64_t bytes, Device& device, Memory (Device::*reserve)(std::int64_t)) {
    if (bytes <= bytes_) return memory_.get();
    if (!device.is_host()) outgrown_.push_back(std::move(memory_));
    memory_ = (device.*reserve)(bytes);
    kept_ = device.is_host() ? bytes : kept_ + bytes;
    bytes_ = bytes;
    return memory_.get();
  }
  /// Of the current memory and of older, smaller blocks.
  std::int64_t bytes() const { return kept_; }

 private:
  Memory memory_;
  std::int64_t bytes_ = 0, kept_ = 0;
  std::vector<Memory> outgrown_;
};

}  // namespace rankscope::comm
