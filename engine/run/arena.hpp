// The memory that a rank's program runs in: one stretch, reserved once. The host's part of a program (Buffer::host)
// stands at its end: on the CPU both are the same RAM.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/tensor/view.hpp"

namespace rankscope {

/// `bytes` of page-aligned memory, all of it resident and filled with 0xFF: as floating point that is NaN, so a tensor
/// that nobody wrote shows in the loss.
class Arena {
 public:
  /// Throws std::bad_alloc.
  explicit Arena(std::int64_t bytes);
  /// Addresses without memory, for binding what will never be launched: reading or writing them is a segmentation
  /// fault. Throws std::bad_alloc.
  static Arena addresses(std::int64_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::int64_t bytes() const { return bytes_; }
  View view(std::int64_t offset, DType type, Shape shape) const { return {data_ + offset, type, shape}; }

 private:
  Arena(std::int64_t bytes, int protection);
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace rankscope
