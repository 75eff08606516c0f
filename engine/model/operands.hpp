// Shapes of a segment's operands and the bytes and FLOPs that follow from them. Internal to the room.
#pragma once
#include <functional>
#include <initializer_list>
#include <vector>

#include "engine/model/segments.hpp"

namespace rankscope {

TensorSpec tensor(TensorName name, const SegmentSizes& sizes);
std::vector<TensorSpec> tensors(std::initializer_list<TensorName> names, const SegmentSizes& sizes);

/// Each operand once. `parameter_elements[i]` is how many elements of its parameter i the segment touches. Gradients of
/// activations have the activations' type, gradients of parameters the accumulation type.
void count_bytes(SegmentSpec& segment, DType type, const std::function<double(TensorName)>& bytes_of_tensor,
                 const std::vector<double>& parameter_elements);
/// The same of a GPT's segment.
void count_bytes(SegmentSpec& segment, const SegmentSizes& sizes, const std::vector<double>& parameter_elements);
/// All of them.
std::vector<double> elements_of(const SegmentSpec& segment, const std::vector<ParameterSpec>& parameters);
/// FLOPs of y = x·wᵀ on all tokens, forward and both halves of backward.
void count_product(SegmentSpec& segment, const SegmentSizes& sizes, double in, double out);
/// Of the attention core on the rank's heads: its backward is input gradient alone.
void count_attention(SegmentSpec& segment, const SegmentSizes& sizes);

}  // namespace rankscope
