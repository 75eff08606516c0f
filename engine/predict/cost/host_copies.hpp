// The cost of a step whose optimizer is on the host, as in DeepSpeed's ZeRO-Offload (Ren et al. 2021, arXiv
// 2101.06840): each micro-batch's gradients leave the device as soon as they are computed. Those of the first become
// the host's sum; for every later one the sum is fetched, added to on the device and sent back, the last time in fp32
// (deepspeed/runtime/zero/stage2.py). The host then updates, and meanwhile sends the parameters back tile by tile.
#pragma once
#include "engine/plan/scenario/scenario.hpp"

namespace rankscope {

/// Whether a plan's optimizer is on the host as above, not in this engine's way (software.host_gradients).
bool keeps_gradients_on_host(const Scenario& scenario);

/// Bytes between device and host for this number of gradients of a micro-batch, one direction after the other.
double host_gradient_bytes(DType type, double elements, bool is_first);
/// The additional bytes of the last micro-batch, which is sent as fp32.
double host_widening_bytes(DType type, double elements);

/// After the last backward: sending the remaining gradients, the update, and the copy of the parameters back.
double host_end_seconds(const ClusterSpec& cluster, DType type, double elements, double states, bool loss_scale);
/// Over the link between device and host.
double host_copy_seconds(const ClusterSpec& cluster, double bytes);

}  // namespace rankscope
