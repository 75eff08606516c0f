// What a step costs that keeps its optimizer on the host as DeepSpeed's ZeRO-Offload does (Ren et al. 2021, arXiv
// 2101.06840): each micro-batch's gradients leave the device as they are made. Those of the first are the host's sum;
// for those of any other the sum is fetched, added to on the device and sent back, the last time in fp32
// (deepspeed/runtime/zero/stage2.py). The host then updates, and parameters come back tile by tile beside that.
#pragma once
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Whether a plan's optimizer is on the host as above, not as this engine has it there (software.host_gradients).
bool keeps_gradients_on_host(const Scenario& scenario);
/// Whether anything is on the host that this engine's programs do not have there.
bool uses_host_otherwise(const Scenario& scenario);

/// Bytes between device and host for so many gradients of a micro-batch, one way after the other.
double host_gradient_bytes(DType type, double elements, bool is_first);
/// What the last micro-batch's are more, as fp32.
double host_widening_bytes(DType type, double elements);
/// Bytes that the host's update reads and writes for so many parameters: gradients, states of `states` bytes each with
/// their fp32 copy, the parameters to be sent; with a loss scale gradients are divided by it first.
double host_update_bytes(DType type, double elements, double states, bool loss_scale);

/// Behind the last backward: what is still to be sent of the gradients, the update, and the parameters' way back.
double host_end_seconds(const ClusterSpec& cluster, DType type, double elements, double states, bool loss_scale);
/// Over the link between device and host.
double host_copy_seconds(const ClusterSpec& cluster, double bytes);

}  // namespace rankscope
