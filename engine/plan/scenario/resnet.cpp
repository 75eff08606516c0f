#include "engine/plan/scenario/resnet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "engine/op/words.hpp"
#include "engine/plan/scenario/data_source.hpp"

namespace rankscope {
namespace {

constexpr std::array<std::array<int, 4>, 5> known_stages{
    {{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 4, 6, 3}, {3, 4, 23, 3}, {3, 8, 36, 3}}};

}  // namespace

std::optional<std::array<int, 4>> resnet_stages(int blocks) {
  for (const auto& stages : known_stages)
    if (std::accumulate(stages.begin(), stages.end(), 0) == blocks) return stages;
  return std::nullopt;
}

std::optional<Complaint> resnet_complaint(const Scenario& scenario) {
  const ModelSpec& model = scenario.model;
  if (!model.is_resnet()) return std::nullopt;
  const std::string blocks = std::to_string(model.layers);
  if (!resnet_stages(model.layers))
    return Complaint{{"model.layers", "model.kind"},
                     "there is no resnet of " + blocks +
                         " blocks; layers = 16 is ResNet-50, 33 ResNet-101, 50 ResNet-152, and 4 and 8 are small ones"};
  if (scenario.plan.tensor > 1)
    return Complaint{{"plan.tensor", "model.kind"},
                     "a resnet's convolutions cannot be split over tensor ranks; use tensor = 1, and pipeline or data"};
  if (scenario.plan.recompute == Recompute::selective)
    return Complaint{{"plan.recompute", "model.kind"},
                     "recompute \"selective\" needs attention, which a resnet does not have; use recompute = "
                     "\"blocks\" or \"sqrt\""};
  if (scenario.plan.logits == LogitsType::narrow)
    return Complaint{{"plan.logits", "model.kind"},
                     "a resnet's logits are few, and always fp32 before softmax; use logits = \"wide\""};
  if (model.dropout > 0) return Complaint{{"model.dropout", "model.kind"}, "a resnet has no dropout; use dropout = 0"};
  if (!is_synthetic(scenario.data))
    return Complaint{
        {"data.source", "model.kind"},
        "a resnet's images are synthetic; use source = \"synthetic\", not \"" + scenario.data.source + "\""};
  const std::int64_t halvings = 32;  // of the first convolution, the pool and three stages
  const std::int64_t side = (model.image + halvings - 1) / halvings;
  // A batch that is too small to be divided is a separate error.
  const std::int64_t images = std::max(scenario.micro_batch_size(), 1);
  if (images * side * side < 2)
    return Complaint{{"train.global_batch", "plan.micro_batches", "model.image"},
                     fmt::format("a micro-batch of one image of {} a side ends as a single pixel, whose batch norm is "
                                 "of one number; image = 33 would do, or global_batch = {}",
                                 counted(model.image, "pixel"), 2 * scenario.plan.data * scenario.plan.micro_batches)};
  const std::int64_t first = (model.image + 1) / 2;  // the greatest tensor: the first convolution's result
  if (scenario.micro_batch_size() * first * first * model.width > 2147483647)
    return Complaint{{"train.global_batch", "model.image", "plan.micro_batches"},
                     fmt::format("a micro-batch of {} of {} a side is too large; use more micro_batches",
                                 counted(scenario.micro_batch_size(), "image"), counted(model.image, "pixel"))};
  return std::nullopt;
}

}  // namespace rankscope
