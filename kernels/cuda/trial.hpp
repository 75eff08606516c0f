// Times of the ways to compute a matrix product, measured in separate memory when the product is prepared. Internal to
// kernels/cuda.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/matrix_product.hpp"

namespace rankscope::kernels::cuda {

class Trial {
 public:
  /// Operands with random numbers, at multiples of `alignment` bytes (at most 256) and of no larger power of two.
  /// Throws DeviceError if there is not enough memory.
  Trial(const ProductSpec& spec, std::int64_t alignment, std::int64_t workspace_bytes);

  /// Enqueues the product; false: it was refused.
  using Launch = std::function<bool(const ProductOperands& operands, const Stream& stream)>;
  /// The median time of each in nanoseconds, infinite if refused. They run in turn, so that a change of the device's
  /// clock affects all of them.
  std::vector<double> nanoseconds(std::span<const Launch> launches);

 private:
  void* reserve(DType type, std::int64_t elements);
  double nanoseconds_of(const Launch& launch, int times);

  const std::int64_t alignment_;
  DeviceStream stream_;
  std::vector<DeviceMemory> memory_;
  std::vector<View> tensors_;  ///< the operands
  ProductOperands operands_;
  Stream work_;
};

}  // namespace rankscope::kernels::cuda
