// Assigns blocks to chunks.
#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "engine/op/words.hpp"
#include "engine/plan/model/balance.hpp"
#include "engine/plan/model/model.hpp"
#include "engine/plan/scenario/stage_split.hpp"

namespace rankscope {
namespace {

void check_chunks(const Model& model, int chunks) {
  if (chunks < 1 || chunks > model.spec.layers)
    throw std::invalid_argument(fmt::format("{} cannot be split into {}; each chunk needs a layer of its own",
                                            counted(model.spec.layers, "layer"), counted(chunks, "chunk")));
}

/// First segments of the chunks from the blocks of each; the embedding belongs to the first, the head to the last,
/// and these chunks may have no blocks.
std::vector<int> first_segments(const Model& model, const std::vector<int>& blocks) {
  std::vector<int> first{0};
  int before = 0;
  for (std::size_t chunk = 0; chunk + 1 < blocks.size(); ++chunk)
    first.push_back(model.segments_before_blocks() + (before += blocks[chunk]) * model.segments_a_block());
  first.push_back(static_cast<int>(model.segments.size()));
  return first;
}

double flops_of(const SegmentSpec& s) { return s.forward_flops + s.input_gradient_flops + s.weight_gradient_flops; }

PartCosts flops_of_parts(const Model& model) {
  PartCosts parts;
  parts.blocks.assign(static_cast<std::size_t>(model.spec.layers), 0);
  for (const SegmentSpec& s : model.segments)
    (s.block >= 0 ? parts.blocks[s.block] : is_before_blocks(s.kind) ? parts.first : parts.last) += flops_of(s);
  return parts;
}

}  // namespace

std::vector<int> split_evenly(const Model& model, int chunks) {
  check_chunks(model, chunks);
  std::vector<int> blocks;
  for (int chunk = 0; chunk < chunks; ++chunk)
    blocks.push_back(model.spec.layers / chunks + (chunk < model.spec.layers % chunks ? 1 : 0));
  return first_segments(model, blocks);
}

std::vector<int> split_by_cost(const Model& model, int chunks) {
  check_chunks(model, chunks);
  if (chunks == 1) return split_evenly(model, 1);
  return first_segments(model, balanced_blocks(flops_of_parts(model), chunks));
}

std::vector<int> split_as_planned(const Model& model, const PlanSpec& plan) {
  const int chunks = plan.chunks();
  const StageSplit split = stage_split(plan);
  if (chunks == 1 || split == StageSplit::even) return split_evenly(model, chunks);
  if (split == StageSplit::cost) return split_by_cost(model, chunks);
  if (split == StageSplit::measured)
    throw std::invalid_argument("'measured' becomes a list of layers by a measurement, which is to be made first");
  const auto blocks = listed_layers(plan.stages);
  int sum = 0;
  bool nothing = false;  // between the embedding's chunk and the head's
  for (std::size_t chunk = 0; blocks && chunk < blocks->size(); ++chunk) {
    sum += (*blocks)[chunk];
    nothing |= (*blocks)[chunk] == 0 && chunk > 0 && chunk + 1 < blocks->size();
  }
  if (!blocks || nothing || static_cast<int>(blocks->size()) != chunks || sum != model.spec.layers)
    throw std::invalid_argument(fmt::format("'{}' does not list the layers of {}, together {}", plan.stages,
                                            counted(chunks, "chunk"), model.spec.layers));
  return first_segments(model, *blocks);
}

}  // namespace rankscope
