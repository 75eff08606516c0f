// Binding: from a segment and its operands in memory to something that can be launched again and again.
//
// Operand order is the contract in engine/model/model.hpp. Binding does all that can be done once (oneDNN primitives,
// workspaces); launching allocates nothing.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "engine/model/model.hpp"
#include "kernels/tensor/view.hpp"

namespace rankscope {

/// What differs from launch to launch of a bound op.
struct LaunchContext {
  std::uint64_t step = 0;
  std::int64_t first_sample = 0;   ///< global index of the micro-batch's first sample: dropout masks are drawn by it
  std::int64_t global_tokens = 1;  ///< tokens of the whole step: the loss gradient is divided by it
};

/// A launch. Runs on the calling thread.
using Launch = std::function<void(const LaunchContext&)>;

/// Scratch memory that the ops of one compute lane share, since they never run at the same time. Grows while binding,
/// reserved once before the first launch; counted in the ledger as `buffers`.
class Workspace {
 public:
  /// Ensures at least so many bytes.
  void require(std::int64_t bytes);
  std::int64_t bytes() const { return bytes_; }
  /// Call once after all binding; afterwards data() is valid.
  void reserve();
  std::byte* data() const { return data_.get(); }

 private:
  std::int64_t bytes_ = 0;
  std::shared_ptr<std::byte[]> data_;
};

}  // namespace rankscope
