// Times of the ways to compute a matrix product, measured in memory of their own when the product is prepared. Internal
// to kernels/cuda.
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
  /// Operands with random numbers, which begin at multiples of `alignment` bytes (at most 256) and of nothing greater.
  /// Throws DeviceError where there is not the memory for them.
  Trial(const ProductSpec& spec, std::int64_t alignment, std::int64_t workspace_bytes);

  /// Enqueues the product; false: it was refused.
  using Launch = std::function<bool(const ProductOperands& operands, const Stream& stream)>;
  /// The median time of each in nanoseconds, infinite for one that was refused. They take turns, so that a change of
  /// the device's clock meets all of them.
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
