#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

#include "engine/search/search.hpp"
#include "engine/simulate/kernels.hpp"

namespace rankscope {
namespace {

/// What decides a block's time and its parameters on a rank.
using BlockKey = std::tuple<int, int, std::string, bool>;  // tensor, samples, recompute, sequence parallel

struct Block {
  BlockSeconds seconds;
  double elements = 0, state_bytes = 0;
  double kept = 0;  ///< bytes of a micro-batch, from forward to backward
};

bool repeats_blocks(const PlanSpec& plan) { return plan.recompute == "blocks" || plan.recompute == "sqrt"; }

/// The chunk on the stage of chunk c of an order that goes round: a V comes back.
int chunk_on(const PlanSpec& plan, int c) {
  const int p = plan.pipeline;
  return plan.schedule == "zb-v" && c >= p ? 3 * p - 1 - c : c;
}

/// Chunks whose activations the first stage holds at once, at least.
int in_flight(const PlanSpec& plan) {
  const int p = plan.pipeline, m = plan.micro_batches, v = plan.virtual_stages;
  if (plan.schedule == "naive") return 1;
  if (plan.schedule == "gpipe") return m;
  if (plan.schedule == "interleaved") return std::min(v * m, (v + 1) * p - 1);
  return std::min(m, plan.schedule == "zb-h2" ? 2 * p - 1 : p);
}

}  // namespace

struct PlanBounds::State {
  explicit State(const Scenario& of) : scenario(of) {}

  /// One block on one stage, as a model of one layer has it.
  const Block& block(const PlanSpec& plan) {
    const int samples = scenario.train.global_batch / (plan.data * plan.micro_batches);
    const BlockKey key{plan.tensor, samples, plan.recompute, plan.sequence_parallel};
    const std::lock_guard lock(mutex);
    const auto [found, made] = blocks.try_emplace(key);
    if (!made) return found->second;
    Scenario one = scenario;
    one.plan = plan;
    one.plan.pipeline = one.plan.data = one.plan.virtual_stages = one.plan.micro_batches = 1;
    one.plan.schedule = "1f1b";
    one.plan.zero = 0;
    one.plan.recompute_blocks = 1;
    one.train.global_batch = samples;
    one.model.layers = 1;
    Block& block = found->second;
    block.seconds = fold_block(one);
    const Model model = make_model(one);
    for (const int p : parameters_of_block(model)) {
      const Shape& shape = model.parameters[static_cast<std::size_t>(p)].shape;
      block.elements += static_cast<double>(shape.elements());
    }
    block.kept = repeats_blocks(plan)
                     ? static_cast<double>(model.stream_tokens() * model.spec.width * bytes_of(model.type))
                     : kept_by_block(model, one.cluster, plan.recompute == "selective").sum();
    const ChunkSchedule schedule = make_schedule("1f1b", {1, 1, 1});
    const StageParameters all = parameters_of_stage(one, model, schedule, split_as_planned(model, one.plan), 0);
    block.state_bytes = all.state_bytes / all.elements * block.elements;
    return block;
  }

  static std::vector<int> parameters_of_block(const Model& model) {
    std::vector<int> found;
    for (const SegmentSpec& segment : model.segments)
      if (segment.block == 0) found.insert(found.end(), segment.parameters.begin(), segment.parameters.end());
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  /// Blocks of each chunk.
  const std::vector<int>& chunks_of(const PlanSpec& plan) {
    const std::lock_guard lock(mutex);
    const auto [found, made] = splits.try_emplace({plan.tensor, plan.chunks(), plan.stages});
    if (!made) return found->second;
    Scenario one = scenario;
    one.plan = plan;
    const Model model = make_model(one);
    const std::vector<int> first = split_as_planned(model, plan);
    for (std::size_t c = 0; c + 1 < first.size(); ++c)
      found->second.push_back(parts_of(model, first[c], first[c + 1])[1]);
    return found->second;
  }

  Scenario scenario;
  std::mutex mutex;
  std::map<BlockKey, Block> blocks;
  std::map<std::tuple<int, int, std::string>, std::vector<int>> splits;
};

PlanBounds::PlanBounds(const Scenario& scenario) : state_(std::make_unique<State>(scenario)) {}
PlanBounds::~PlanBounds() = default;

PlanBound PlanBounds::of(const PlanSpec& plan) {
  const Block& block = state_->block(plan);
  const std::vector<int>& chunks = state_->chunks_of(plan);
  const Scenario& s = state_->scenario;
  const int p = plan.pipeline, all = plan.chunks();
  const double forward = block.seconds.forward_seconds(), backward = block.seconds.backward_seconds();
  // Before a stage can begin, a micro-batch has gone forward through the chunks in front of its first one; behind its
  // last backward it goes back through them, and what is repeated for that may have been before. (With split backwards
  // a stage's last op is a weight gradient, which nothing follows.)
  const bool splits = plan.schedule.starts_with("zb");
  const double way_back = splits ? 0 : backward - block.seconds.recompute - block.seconds.exchange_recompute;
  double before = 0, seconds = 0;
  int fullest = 0;
  for (int stage = 0; stage < p; ++stage) {
    int own = 0;
    for (int c = stage; c < all; c += p) own += chunks[static_cast<std::size_t>(chunk_on(plan, c))];
    seconds = std::max(seconds, before * (forward + way_back) + plan.micro_batches * own * (forward + backward));
    before += chunks[static_cast<std::size_t>(stage)];
    fullest = std::max(fullest, own);
  }

  const DType type = Scenario::dtype_of_precision(plan.precision);
  const double element = static_cast<double>(bytes_of(type)), gradient = gradient_bytes(s.cluster, type);
  const double shared = plan.zero > 0 ? plan.data : 1, states_each = block.state_bytes / block.elements;
  const double update =
      update_bytes_per_parameter(element, gradient, states_each, s.cluster.fused, plan.precision == "fp16");
  PlanBound bound;
  bound.seconds =
      seconds + memory_seconds(s.cluster, block.elements * fullest * update / shared) - s.cluster.op_overhead_s;
  const auto states = [&](int blocks) {
    return model_states(block.elements * blocks, {element, gradient, states_each}, plan.zero, plan.data).sum();
  };
  // The first stage has most micro-batches in flight. Of blocks that are computed again together one input is kept.
  int on_first = 0, least = s.model.layers;
  for (int c = 0; c < all; c += p) {
    const int blocks = chunks[static_cast<std::size_t>(chunk_on(plan, c))];
    on_first += blocks;
    least = std::min(least, blocks);
  }
  const int together = repeats_blocks(plan) ? blocks_repeated_together(plan, least) : 1;
  const double activations = in_flight(plan) * ((least + together - 1) / together) * block.kept;
  const double tensors = std::max(states(fullest), states(on_first) + activations);
  bound.bytes = tensors * (1 + s.cluster.allocator_slack) + s.cluster.context_bytes;
  return bound;
}

}  // namespace rankscope
