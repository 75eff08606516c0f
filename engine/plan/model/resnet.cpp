#include "engine/plan/model/architectures.hpp"

#include <array>
#include <stdexcept>
#include <vector>

#include "engine/plan/model/make_rows.hpp"
#include "engine/plan/model/resnet_rows.hpp"
#include "engine/plan/scenario/resnet.hpp"
#include "kernels/convolution.hpp"

namespace rankscope {
namespace {

constexpr Architecture resnet{"block.", resnet_rows::parameters, resnet_rows::tensors, resnet_rows::segments, {}};
constexpr int colours = 3, expansion = 4;

/// Images of a part of the network: its input, its intermediate results, and its output.
Part part_of(std::int64_t samples, std::array<std::int64_t, 3> sides, std::array<std::int64_t, 3> channels,
             bool other_size = false) {
  Part part{{}, other_size};
  Sizes& sizes = part.sizes;
  sizes[Size::one] = 1;
  sizes[Size::samples] = sizes[Size::all_rows] = samples;
  sizes[Size::in_side] = sides[0];
  sizes[Size::middle_side] = sides[1];
  sizes[Size::out_side] = sides[2];
  sizes[Size::in_channels] = channels[0];
  sizes[Size::middle_channels] = channels[1];
  sizes[Size::out_channels] = channels[2];
  return part;
}

struct Parts {
  Part stem, classifier;
  std::vector<Part> blocks;
};

/// A block of m = width·2^stage channels has 4·m at its end, and halves the sides where a stage starts (not the first).
Parts parts_of(const ModelSpec& spec, const std::array<int, 4>& stages, std::int64_t samples) {
  const std::int64_t convolved = kernels::window_places(spec.image, 7, 2, 3);
  std::int64_t side = kernels::window_places(convolved, 3, 2, 1), in = spec.width, middle = spec.width;
  Parts parts;
  parts.stem = part_of(samples, {spec.image, convolved, side}, {colours, spec.width, spec.width});
  for (std::size_t stage = 0; stage < stages.size(); ++stage, middle *= 2)
    for (int b = 0; b < stages[stage]; ++b) {
      const int stride = stage > 0 && b == 0 ? 2 : 1;
      const std::int64_t out = expansion * middle, out_side = kernels::window_places(side, 3, stride, 1);
      parts.blocks.push_back(part_of(samples, {side, side, out_side}, {in, middle, out}, in != out || stride != 1));
      in = out;
      side = out_side;
    }
  parts.classifier = part_of(samples, {side, side, side}, {in, in, spec.classes});
  return parts;
}

}  // namespace

void make_resnet(Model& model, const Scenario& scenario) {
  if (const auto complaint = resnet_complaint(scenario)) throw std::invalid_argument(complaint->what);
  model.spec.tied = false;
  const Parts parts = parts_of(model.spec, *resnet_stages(model.spec.layers), model.micro_batch_size);
  make_rows(model, resnet, [&](Place place, int block) {
    return place == Place::block ? parts.blocks[block] : place == Place::before_blocks ? parts.stem : parts.classifier;
  });
}

double resnet_flops_per_sample(const Model& model) {
  double flops = 0;
  for (const SegmentSpec& s : model.segments)
    flops += s.forward_flops + s.input_gradient_flops + s.weight_gradient_flops;
  return flops / model.micro_batch_size;
}

}  // namespace rankscope
