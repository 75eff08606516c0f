// The kernels of a residual network's segments. Internal to the room: kernels_of chooses.
#pragma once
#include "engine/predict/cost/kernels.hpp"

namespace rankscope {

/// As kernels_of, for a resnet.
SegmentKernels resnet_kernels_of(const Model& model, const SegmentSpec& segment, const ClusterSpec& cluster);

}  // namespace rankscope
