#include "engine/plan/model/model.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <stdexcept>

#include "engine/plan/model/architectures.hpp"
#include "engine/plan/model/gpt_rows.hpp"
#include "engine/plan/model/llama_rows.hpp"
#include "engine/plan/model/resnet_rows.hpp"

namespace rankscope {

Model make_model(const Scenario& scenario) {
  Model model;
  model.spec = scenario.model;
  model.micro_batch_size = scenario.micro_batch_size();
  model.type = scenario.compute_type();
  switch (model.spec.kind) {
    case ModelKind::gpt:
    case ModelKind::llama: make_transformer(model, scenario); break;
    case ModelKind::resnet: make_resnet(model, scenario); break;
    case ModelKind::collective: break;  // no parameters to compute with
  }
  return model;
}

std::int64_t Model::parameter_count() const {
  std::int64_t count = 0;
  for (const ParameterSpec& parameter : parameters) count += parameter.whole.elements();
  return count;
}

double Model::model_flops_per_sample() const {
  if (spec.is_collective()) return 0;
  return spec.is_resnet() ? resnet_flops_per_sample(*this) : transformer_flops_per_sample(spec);
}

std::int64_t Model::words_of(int rank) const {
  const std::int64_t share = vocabulary_share();
  return masks_padding ? std::clamp<std::int64_t>(spec.vocabulary - rank * share, 0, share) : share;
}

int Model::segments_before_blocks() const {
  int count = 0;
  while (count < std::ssize(segments) && segments[count].block < 0) ++count;
  return count;
}

int Model::segments_a_block() const {
  const int first = segments_before_blocks();
  int count = 0;
  while (first + count < std::ssize(segments) && segments[first + count].block == 0) ++count;
  return count;
}

const SegmentSpec& Model::segment(int block, Segment kind) const {
  const auto is_it = [&](const SegmentSpec& s) { return s.kind == kind && s.block == block; };
  const auto of_block = segments.begin() + segments_before_blocks() + std::max(block, 0) * segments_a_block();
  const auto first = block < 0 ? segments.begin() : of_block;
  auto found = std::find_if(first, block < 0 ? of_block : of_block + segments_a_block(), is_it);
  if (block < 0 && found == of_block)
    found = std::find_if(of_block + spec.layers * segments_a_block(), segments.end(), is_it);
  assert(found != segments.end() && is_it(*found));
  return *found;
}

std::span<const SegmentSpec> Model::unrepeated_behind(const SegmentSpec& segment) const {
  const auto at = static_cast<std::size_t>(&segment - segments.data());
  std::size_t end = at + 1;
  while (end < segments.size() && segments[end].block == segment.block && !segments[end].repeated) ++end;
  if (!segment.repeated || (end < segments.size() && segments[end].block == segment.block)) return {};
  return std::span(segments).subspan(at + 1, end - at - 1);
}

namespace {

constexpr std::array<bool, segment_count> before_blocks = [] {
  std::array<bool, segment_count> before{};
  const auto mark = [&](const auto& rows) {
    for (const SegmentRow& row : rows)
      if (row.place == Place::before_blocks) before[static_cast<std::size_t>(row.kind)] = true;
  };
  mark(gpt_rows::segments);
  mark(gpt_rows::split_segments);
  mark(llama_rows::segments);
  mark(llama_rows::split_segments);
  mark(resnet_rows::segments);
  return before;
}();

}  // namespace

bool is_before_blocks(Segment kind) { return before_blocks[static_cast<std::size_t>(kind)]; }

namespace {

const TensorSpec* find_own(const SegmentSpec& segment, TensorName name) {
  for (const auto* tensors : {&segment.inputs, &segment.outputs})
    for (const TensorSpec& tensor : *tensors)
      if (tensor.name == name) return &tensor;
  return nullptr;
}

}  // namespace

const TensorSpec* find_tensor(const Model& model, const SegmentSpec& segment, TensorName name) {
  if (const TensorSpec* own = find_own(segment, name)) return own;
  if (segment.block >= 0) {
    const std::size_t count = static_cast<std::size_t>(model.segments_a_block());
    const std::size_t first =
        static_cast<std::size_t>(model.segments_before_blocks()) + static_cast<std::size_t>(segment.block) * count;
    for (std::size_t s = first; s < first + count; ++s)
      if (const TensorSpec* of_block = find_own(model.segments[s], name)) return of_block;
  }
  for (const SegmentSpec& other : model.segments)
    if (const TensorSpec* found = find_own(other, name)) return found;
  return nullptr;
}

DType Model::logits_type() const { return narrow_logits ? type : accumulation_type(type); }

DType accumulation_type(DType type) { return type == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace rankscope
