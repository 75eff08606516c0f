// What a set does with many tensors in one launch, held against what it does tensor by tensor.
#pragma once
#include "kernels/device/device.hpp"
#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::test {

/// Updates by every rule, in every type, have bit for bit what one update after the other has; square norms are the
/// sum of each's. `device`'s memory, and the calling thread's.
void check_together(const KernelSet& set, Device& device);

}  // namespace rankscope::kernels::test
