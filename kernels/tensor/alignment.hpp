// The alignment of tensors in a rank's memory. A program's memory is predicted and reserved by this one rule.
#pragma once
#include <cstdint>

namespace rankscope {

/// In bytes, from the begin of an arena or of an op's scratch memory: cuBLASLt has kernels that need this alignment.
/// Rows within a tensor, and tensors within a bucket, have smaller alignments.
inline constexpr std::int64_t tensor_alignment = 256;

/// The next offset from `bytes` on where a tensor may begin.
constexpr std::int64_t next_tensor(std::int64_t bytes) {
  return (bytes + tensor_alignment - 1) / tensor_alignment * tensor_alignment;
}

}  // namespace rankscope
