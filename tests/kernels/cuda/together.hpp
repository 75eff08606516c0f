// Compares many tensors in one launch with the same tensors one by one.
#pragma once
#include "kernels/device/device.hpp"
#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::test {

/// Updates by every rule, in every type, have the same bits as updates one by one; the square norm is the sum of the
/// tensors' norms. Uses `device`'s memory and the calling thread's.
void check_together(const KernelSet& set, Device& device);

}  // namespace rankscope::kernels::test
