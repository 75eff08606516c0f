// The kernels that a segment launches, each a product or bytes through memory, and their total seconds.
//
// A segment's computation is in engine/execute/layers; this is its division into kernels: norms, GELU, and
// the sums of a residual branch with its bias and dropout are a kernel each that reads its inputs and writes its
// outputs once (Narayanan et al. 2021, section 4.2). software.attention defines whether scores stay on the chip,
// software.fused whether the loss is a separate kernel, software.accumulation how weights' gradients are summed over
// micro-batches, software.persistent_norm which kernels its layer norms are.
#pragma once
#include <vector>

#include "engine/plan/model/model.hpp"
#include "engine/predict/cost/device.hpp"
#include "engine/predict/cost/measured.hpp"

namespace rankscope {

/// A product, or, if its m is 0, only bytes; or FLOPs at a stated share of the peak (attention that keeps its
/// scores), or bytes at a stated share of the memory's bandwidth (layer norms).
struct Kernel {
  Product product;
  double bytes = 0;
  double flops = 0, share_of_peak = 0;
  double share_of_bandwidth = 0;  ///< reached by its bytes; 0: cluster.memory_efficiency
};
double kernel_seconds(const ClusterSpec& cluster, DType type, const Kernel& kernel);

struct SegmentKernels {
  std::vector<Kernel> forward, input_gradient, weight_gradient;
};
/// Of one micro-batch on one rank. `segment` is one of the model's.
SegmentKernels kernels_of(const Model& model, const SegmentSpec& segment, const ClusterSpec& cluster);

struct SegmentSeconds {
  double forward = 0, input_gradient = 0, weight_gradient = 0, backward = 0;
};
/// The sums over its kernels; without cluster.multiprocessors one roofline each (FLOPs over product_efficiency of the
/// peak, or operands' bytes over memory_efficiency of the memory's bandwidth, whichever is more, and the launch). Times
/// in `measured` take precedence.
SegmentSeconds segment_seconds(const Model& model, const SegmentSpec& segment, const ClusterSpec& cluster,
                               const MeasuredOps* measured = nullptr);

/// Whether scores are fp32 between the product that writes and the one that reads them (Megatron-LM of 2021 without
/// its fused softmax: megatron/model/fused_softmax.py).
bool has_wide_scores(const ClusterSpec& cluster);

/// Bytes per parameter that an optimizer's step reads and writes, norm and clipping included, if weights and
/// activations have `element` bytes, reduced gradients `gradient` and states `states` (AdamW: 12 with master): as in
/// the cluster (update_bytes), else one pass if its software is `fused`, else separate passes (cast to fp32,
/// unscale, norm, clip, update, cast back, zero) as in Megatron-LM's mixed-precision optimizer of 2021.
double update_bytes_per_parameter(const ClusterSpec& cluster, double element, double gradient, double states,
                                  bool loss_scale);

}  // namespace rankscope
