// Bytes that a segment moves through memory. Internal to the room.
#pragma once
#include <array>
#include <vector>

#include "engine/plan/model/model.hpp"

namespace rankscope {

/// The tensors of a part of the model, by name.
using TensorSpecs = std::array<TensorSpec, tensor_name_count>;

/// Sets the segment's bytes: each operand once. `parameter_elements[i]` is how many elements of its parameter i the
/// segment uses. Gradients of activations have the activations' type, gradients of parameters the accumulation type.
void count_bytes(SegmentSpec& segment, DType type, const TensorSpecs& tensors,
                 const std::vector<double>& parameter_elements);

}  // namespace rankscope
