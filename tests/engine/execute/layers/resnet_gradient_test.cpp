// The gradients of a whole residual network, compared with finite differences in fp64.
//
// ReLU and max pooling have kinks, so steps are small: none of about ten thousand numbers then crosses a kink.
#include <cstring>

#include "kernels/cpu/cpu.hpp"
#include "tests/engine/execute/layers/hand_laid.hpp"
#include "tests/engine/execute/layers/slope.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

constexpr double step = 2e-7, tolerance = 1e-6;
constexpr int samples = 3, classes = 5;

Scenario resnet(const char* precision) {
  Scenario scenario;
  scenario.model = {.kind = "resnet", .layers = 8, .width = 4, .image = 33, .classes = classes};
  scenario.train.global_batch = samples;
  scenario.plan.precision = precision;
  return scenario;
}

LaunchContext resnet_context(const Model& model) { return {.global_tokens = model.tokens()}; }

void set_images(HandLaid& rank) {
  const std::int64_t values = rank.model().segments.front().inputs.front().shape.elements();
  Batch batch = random_batch(values, 256, 3);
  batch.targets = random_batch(samples, classes, 4).targets;
  rank.set_batch(batch.tokens, batch.targets);
}

/// Makes batch norms do more than scale, and the last layer's gradient not small.
void enlarge_resnet(HandLaid& rank) {
  for (std::size_t p = 0; p < rank.model().parameters.size(); ++p) {
    const View view = rank.parameter(static_cast<int>(p));
    if (view.shape.rank > 1) continue;
    for (std::int64_t i = 0; i < view.elements(); ++i)
      view.as<double>()[i] += 0.3 * (2 * uniform(5, p, static_cast<std::uint64_t>(i)) - 1);
  }
}

}  // namespace

TEST_CASE("a resnet's gradient of every parameter is the slope of the mean loss") {
  HandLaid rank(make_model(resnet("fp64")), kernels::cpu_kernels(), 1, true);
  enlarge_resnet(rank);
  set_images(rank);
  const LaunchContext context = resnet_context(rank.model());
  const auto mean_loss = [&] { return rank.forward(context) / static_cast<double>(context.global_tokens); };
  mean_loss();
  rank.backward(context, false);
  for (std::size_t p = 0; p < rank.model().parameters.size(); ++p) {
    INFO(rank.model().parameters[p].name);
    check_gradient(rank.parameter(static_cast<int>(p)), rank.gradient(static_cast<int>(p)), mean_loss, step, tolerance);
  }
}

TEST_CASE("the gradient that a resnet's blocks pass back is the slope of the mean loss in their input") {
  HandLaid rank(make_model(resnet("fp64")), kernels::cpu_kernels(), 1, true);
  enlarge_resnet(rank);
  set_images(rank);
  const LaunchContext context = resnet_context(rank.model());
  rank.forward(context);
  rank.backward(context, false);
  const Model& model = rank.model();
  int checked = 0;
  for (std::size_t s = 0; s < model.segments.size(); ++s) {
    const SegmentSpec& segment = model.segments[s];
    if (segment.kind != Segment::conv1 && segment.kind != Segment::classifier) continue;
    INFO("input of segment " << s << ", " << name_of(segment.kind) << " of block " << segment.block);
    const auto rest = [&] {
      rank.forward(context, s, model.segments.size());
      return *rank.activation(model.segments.back(), TensorName::loss).as<double>() /
             static_cast<double>(context.global_tokens);
    };
    rank.forward(context);
    check_gradient(rank.activation(segment, TensorName::residual),
                   rank.activation_gradient(segment, TensorName::residual), rest, step, tolerance);
    ++checked;
  }
  CHECK(checked == 9);
}

TEST_CASE("a resnet's backward in two halves gives the whole one's bits, written and added") {
  const char* precision = GENERATE("fp64", "fp32", "bf16", "fp16");
  HandLaid rank(make_model(resnet(precision)), kernels::cpu_kernels(), 1, true);
  set_images(rank);
  const LaunchContext context = resnet_context(rank.model());
  const double loss = rank.forward(context);
  INFO(precision << ": loss " << loss);
  CHECK(std::isfinite(loss));
  CHECK(loss > 0);
  const auto gradients = [&] {
    std::vector<std::vector<std::byte>> bits;
    for (std::size_t p = 0; p < rank.model().parameters.size(); ++p) {
      const View gradient = rank.gradient(static_cast<int>(p));
      bits.emplace_back(gradient.as<std::byte>(), gradient.as<std::byte>() + gradient.bytes());
    }
    return bits;
  };
  std::vector<std::vector<std::byte>> whole[2];
  for (const bool add : {false, true}) {
    rank.backward(context, add);
    whole[add] = gradients();
  }
  CHECK(whole[0] != whole[1]);
  for (const bool add : {false, true}) {
    for (std::size_t p = 0; !add && p < rank.model().parameters.size(); ++p)
      std::memset(rank.gradient(static_cast<int>(p)).data, 0xFF,
                  static_cast<std::size_t>(rank.gradient(static_cast<int>(p)).bytes()));
    rank.split_backward(context, add);
    CHECK(gradients() == whole[add]);
  }
}
