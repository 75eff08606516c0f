#include <algorithm>
#include <stdexcept>

#include "engine/plan/model/model.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

Scenario resnet(int layers, int image = 224, int samples = 2) {
  Scenario scenario;
  scenario.model = {.kind = "resnet", .layers = layers, .width = 64, .image = image, .classes = 1000};
  scenario.train.global_batch = samples;
  return scenario;
}

const TensorSpec& input_of(const SegmentSpec& segment, TensorName name) {
  const auto found = std::find_if(segment.inputs.begin(), segment.inputs.end(),
                                  [&](const TensorSpec& tensor) { return tensor.name == name; });
  if (found == segment.inputs.end()) throw std::runtime_error("no such input");
  return *found;
}

}  // namespace

TEST_CASE("ResNet-50, -101 and -152 have the parameters and multiplications that torchvision prints") {
  struct Row {
    int layers;
    std::int64_t parameters;
    double giga_multiplications;  ///< of the forward of one image with 224 × 224 pixels
  };
  // torchvision's table of models ("num_params" and "_ops" of the weights' meta data).
  const Row rows[] = {{16, 25'557'032, 4.09}, {33, 44'549'160, 7.80}, {50, 60'192'808, 11.51}};
  for (const Row& row : rows) {
    INFO(row.layers << " blocks");
    const Model model = make_model(resnet(row.layers));
    CHECK(model.parameter_count() == row.parameters);
    double forward = 0, first = 0;
    for (const SegmentSpec& s : model.segments) {
      forward += s.forward_flops;
      if (s.kind == Segment::stem) first = s.forward_flops;
    }
    forward /= model.micro_batch_size;
    CHECK(forward / 2e9 == Approx(row.giga_multiplications).margin(0.005));
    CHECK(model.model_flops_per_sample() == Approx(3 * forward - first / model.micro_batch_size).epsilon(1e-12));
  }
}

TEST_CASE("a ResNet-50's stages have the sizes of He et al. 2016, table 1") {
  const Model model = make_model(resnet(16));
  struct Row {
    int block;
    std::int64_t side, channels;  ///< of its output
  };
  const Row rows[] = {{0, 56, 256},  {2, 56, 256},   {3, 28, 512},  {6, 28, 512},
                      {7, 14, 1024}, {12, 14, 1024}, {13, 7, 2048}, {15, 7, 2048}};
  for (const Row& row : rows) {
    INFO("block " << row.block);
    const TensorSpec& output = model.segment(row.block, Segment::shortcut_sum).outputs.back();
    CHECK(output.name == TensorName::output);
    CHECK(output.shape == Shape{2, row.side, row.side, row.channels});
  }
  CHECK(model.segment(-1, Segment::stem).outputs.front().shape == Shape{2, 112, 112, 64});
  CHECK(model.segment(-1, Segment::pool).outputs.back().shape == Shape{2, 56, 56, 64});
  CHECK(model.segment(-1, Segment::classifier).outputs.front().shape == Shape{2, 2048});
}

TEST_CASE("each block reads what the one before has written, and the first of a stage has a shortcut of its own") {
  for (const int image : {32, 33, 64, 224}) {
    const Model model = make_model(resnet(16, image));
    Shape before = model.segment(-1, Segment::pool).outputs.back().shape;
    for (int block = 0; block < model.spec.layers; ++block) {
      INFO(image << " pixels, block " << block);
      const SegmentSpec& first = model.segment(block, Segment::conv1);
      CHECK(input_of(first, TensorName::residual).shape == before);
      const bool shortcut = block == 0 || block == 3 || block == 7 || block == 13;
      CHECK((first.outputs.size() == 2) == shortcut);
      CHECK(first.adds_to_gradient(TensorName::residual) != shortcut);
      before = model.segment(block, Segment::shortcut_sum).outputs.back().shape;
    }
    CHECK(input_of(model.segments.back(), TensorName::residual).shape == before);
  }
}

TEST_CASE("chunks of a resnet are balanced by the FLOPs of its blocks, which differ") {
  const Model model = make_model(resnet(16));
  const auto flops = [&](int begin, int end) {
    double sum = 0;
    for (int s = begin; s < end; ++s) {
      const SegmentSpec& segment = model.segments[static_cast<std::size_t>(s)];
      sum += segment.forward_flops + segment.input_gradient_flops + segment.weight_gradient_flops;
    }
    return sum;
  };
  const auto worst = [&](const std::vector<int>& first) {
    double greatest = 0;
    for (std::size_t c = 0; c + 1 < first.size(); ++c) greatest = std::max(greatest, flops(first[c], first[c + 1]));
    return greatest;
  };
  const std::vector<int> even = split_evenly(model, 4), balanced = split_by_cost(model, 4);
  CHECK(worst(balanced) <= worst(even));
  // No other way to cut is better.
  const int before = model.segments_before_blocks(), each = model.segments_a_block();
  double best = worst(even);
  for (int a = 1; a < 14; ++a)
    for (int b = a + 1; b < 15; ++b)
      for (int c = b + 1; c < 16; ++c)
        best = std::min(best, worst({0, before + a * each, before + b * each, before + c * each,
                                     static_cast<int>(model.segments.size())}));
  CHECK(worst(balanced) == Approx(best).epsilon(1e-12));
}

TEST_CASE("an unknown resnet is refused") {
  CHECK_THROWS_AS(make_model(resnet(7)), std::invalid_argument);
  Scenario split = resnet(16);
  split.plan.tensor = 2;
  CHECK_THROWS_AS(make_model(split), std::invalid_argument);
}
