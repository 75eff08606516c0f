// From rows to a model. Internal to the room.
#pragma once
#include <functional>

#include "engine/plan/model/rows.hpp"

namespace rankscope {

/// The part before the blocks, a block, or the part after them.
struct Part {
  Sizes sizes;
  bool other_size = false;  ///< of a residual network's block: When::other_size applies, else When::same_size
};
/// `block` is -1 outside the blocks.
using PartOf = std::function<Part(Place place, int block)>;

/// Whether a row with that condition applies.
bool applies(When when, const ModelSpec& spec, const Part& part);

/// FLOPs of one micro-batch.
struct Flops {
  double forward = 0, input_gradient = 0, weight_gradient = 0;
  double sum() const { return forward + input_gradient + weight_gradient; }
};
Flops flops_of(const SegmentRow& row, const Architecture& architecture, const Sizes& sizes);

/// Adds the rows' content, with spec.layers blocks, to a model that has everything but parameters, segments and
/// exchanges.
void make_rows(Model& model, const Architecture& architecture, const PartOf& part_of);

}  // namespace rankscope
