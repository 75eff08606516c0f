#include <algorithm>

#include "engine/execute/layers/bind.hpp"

namespace rankscope {

void Workspace::require(std::int64_t bytes) { bytes_ = std::max(bytes_, bytes); }

void Workspace::reserve(Device& device, Queue& queue) {
  data_ = device.reserve(bytes_);
  queue_ = &queue;
}

void Workspace::reserve() { data_ = HostDevice().reserve(bytes_); }

}  // namespace rankscope
