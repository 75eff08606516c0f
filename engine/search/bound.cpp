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

/// Chunks whose activations the first stage holds at once, at least.
int in_flight(const PlanSpec& plan) {
  const int p = plan.pipeline, m = plan.micro_batches, v = plan.virtual_stages;
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

  Scenario scenario;
  std::mutex mutex;
  std::map<BlockKey, Block> blocks;
};

PlanBounds::PlanBounds(const Scenario& scenario) : state_(std::make_unique<State>(scenario)) {}
PlanBounds::~PlanBounds() = default;

PlanBound PlanBounds::of(const PlanSpec& plan) {
  const Block& block = state_->block(plan);
  const Scenario& s = state_->scenario;
  const int chunks = plan.chunks(), least = s.model.layers / chunks;
  const double forward = block.seconds.forward_seconds(), backward = block.seconds.backward_seconds();
  // Before the last stage can begin, a micro-batch has gone forward through a chunk of each stage before; behind its
  // last backward it goes back through them, and what is repeated for that may have been before. (With split backwards
  // a stage's last op is a weight gradient, which nothing follows.)
  const bool splits = plan.schedule.starts_with("zb");
  const double way_back = splits ? 0 : backward - block.seconds.recompute - block.seconds.exchange_recompute;
  const double ends = (plan.pipeline - 1) * least * (forward + way_back);
  const double work = plan.micro_batches * plan.virtual_stages * least * (forward + backward);
  // Where layers do not come out even, the first stage has a block more, and has that work at least.
  const int fullest = plan.virtual_stages == 1 ? (s.model.layers + chunks - 1) / chunks : plan.virtual_stages * least;
  const double of_fullest = plan.micro_batches * fullest * (forward + backward);

  const DType type = Scenario::dtype_of_precision(plan.precision);
  const double element = static_cast<double>(bytes_of(type)), gradient = gradient_bytes(s.cluster, type);
  const double elements = block.elements * least * plan.virtual_stages;
  const double shared = plan.zero > 0 ? plan.data : 1;
  const double update = update_bytes_per_parameter(element, gradient, block.state_bytes / block.elements,
                                                   s.cluster.fused, plan.precision == "fp16");
  const double updating = memory_seconds(s.cluster, elements * update / shared) - s.cluster.op_overhead_s;
  PlanBound bound;
  bound.seconds = std::max(ends + work, of_fullest) + updating;
  const double states =
      model_states(elements, {element, gradient, block.state_bytes / block.elements}, plan.zero, plan.data).sum();
  // Of blocks that are computed again together one input is kept.
  const int together = repeats_blocks(plan) ? blocks_repeated_together(plan, least) : 1;
  const int kept_blocks = (least + together - 1) / together;
  const double activations = in_flight(plan) * kept_blocks * block.kept;
  bound.bytes = (states + activations) * (1 + s.cluster.allocator_slack) + s.cluster.context_bytes;
  return bound;
}

}  // namespace rankscope
