// The operands of a segment, read in order and checked against the model's specification. Internal to
// engine/execute/layers.
#pragma once
#include <span>
#include <string>

#include "engine/execute/layers/bind.hpp"
#include "kernels/tensor/alignment.hpp"

namespace rankscope {

/// The name of a bound segment in messages, such as "forward of b3.qkv".
std::string describe(const SegmentSpec& segment, const char* direction);

class Operands {
 public:
  Operands(const Model& model, const SegmentSpec& segment, const char* direction, std::span<const View> views)
      : model_(model), segment_(segment), direction_(direction), views_(views) {}

  /// The next operand, which must be the tensor (or the gradient of the tensor) of that name. The view gets the
  /// tensor's own shape.
  View tensor(TensorName name);
  /// The next operand, which must be the segment's parameter number `index`.
  View parameter(int index);
  /// The same for its gradient.
  View gradient(int index);
  /// Throws unless all operands have been read.
  void finish() const;

 private:
  View take(const Shape& shape, DType type, const std::string& what);

  const Model& model_;
  const SegmentSpec& segment_;
  const char* direction_;
  std::span<const View> views_;
  std::size_t next_ = 0;
};

/// Scratch of one launch: temporaries of the segment, and after them the largest workspace of its kernels, which run
/// one after the other.
class ScratchLayout {
 public:
  /// Returns the temporary's offset.
  std::int64_t add_temporary(std::int64_t bytes) {
    const std::int64_t offset = temporaries_;
    temporaries_ = next_tensor(temporaries_ + bytes);
    return offset;
  }
  void add_kernel(std::int64_t workspace_bytes) { kernel_ = std::max(kernel_, workspace_bytes); }
  std::int64_t kernel_offset() const { return temporaries_; }
  std::int64_t bytes() const { return temporaries_ + kernel_; }

 private:
  std::int64_t temporaries_ = 0, kernel_ = 0;
};

}  // namespace rankscope
