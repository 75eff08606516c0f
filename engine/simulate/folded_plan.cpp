#include "engine/simulate/folded_plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "engine/program/compile.hpp"
#include "engine/simulate/costs.hpp"
#include "engine/simulate/kernels.hpp"
#include "engine/simulate/network.hpp"

namespace rankscope {
namespace {

const Scenario& foldable(const Scenario& scenario) {
  if (const std::string why = why_not_folded(scenario); !why.empty())
    throw std::invalid_argument("this plan cannot be folded: " + why);
  return scenario;
}

}  // namespace

const char* why_not_folded(const Scenario& scenario) {
  if (scenario.plan.data_parallel != "all-reduce") return "ranks of a data group are not alike";
  if (scenario.plan.offload != "none") return "the host's part of the step is not folded";
  if (scenario.plan.collective != "auto") return "a collective's algorithm is named";
  if (!has_topology(scenario.cluster)) return "the cluster does not say how its nodes hang together (cluster.rails)";
  return "";
}

FoldedPlan::FoldedPlan(const Scenario& of, const Model& of_model)
    : scenario(foldable(of)),
      cluster(of.cluster),
      model(of_model),
      grid(of.plan.grid()),
      schedule(schedule_of(of.plan)),
      first_segment(split_as_planned(model, of.plan)),
      measured(of.cluster.costs, of.plan.precision) {}

double FoldedPlan::collective(OpKind kind, const std::vector<int>& members, double bytes) const {
  return collective_seconds(cluster, Route::best, kind, members, bytes);
}

double FoldedPlan::stream_bytes() const {
  return static_cast<double>(model.tokens() * model.spec.width * bytes_of(model.type));
}

double FoldedPlan::own_stream_bytes() const {
  return static_cast<double>(model.stream_tokens() * model.spec.width * bytes_of(model.type));
}

// Three numbers of each token: the cross-entropy over a split vocabulary.
double FoldedPlan::words_bytes() const { return static_cast<double>(model.tokens() * 3 * 4) * model.tensor; }

double FoldedPlan::embedding_bytes() const {
  if (!model.spec.tied || schedule.stage_of_chunk.front() == schedule.stage_of_chunk.back()) return 0;
  // With shards each data rank has its part of it; other software sums it whole.
  const double parts = shards() && cluster.fused ? grid.data : 1;
  return static_cast<double>(model.vocabulary_share() * model.spec.width) * gradient_bytes(cluster, model.type) / parts;
}

bool FoldedPlan::is_gathered_again(const Exchange& exchange) const {
  return model.sequence_parallel && !cluster.fused && exchange.forward == OpKind::all_gather &&
         exchange.purpose == Purpose::tensor;
}

FoldedPlan::Blocks FoldedPlan::blocks_of(int begin, int end) const {
  Blocks blocks{model.spec.layers, -1};
  for (int i = begin; i < end; ++i)
    if (const int block = model.segments[static_cast<std::size_t>(i)].block; block >= 0) {
      blocks.first = std::min(blocks.first, block);
      blocks.last = std::max(blocks.last, block);
    }
  return blocks;
}

bool FoldedPlan::is_repeated(const SegmentSpec& segment, const Blocks& blocks) const {
  if (segment.block < 0) return false;
  if (scenario.plan.recompute == "selective") return segment.kind == Segment::attention;
  const int together = blocks_repeated_together(scenario.plan, blocks.last - blocks.first + 1);
  if (together == 0) return false;
  // No backward reads what the last product of a group makes.
  const bool last = segment.block == blocks.last || (segment.block - blocks.first) % together == together - 1;
  return cluster.recompute_whole || !last || (segment.kind != Segment::down && segment.kind != Segment::output);
}

ChunkSeconds FoldedPlan::seconds_of(int begin, int end, int stage) const {
  // This engine computes a chunk's last blocks again while it waits for their gradient.
  const Blocks blocks = blocks_of(begin, end);
  const int together = blocks_repeated_together(scenario.plan, blocks.last - blocks.first + 1);
  const bool ends_in_block = model.segments[static_cast<std::size_t>(end) - 1].block >= 0;
  const int ahead_from = cluster.overlap && ends_in_block && together > 0
                             ? blocks.first + (blocks.last - blocks.first) / together * together
                             : model.spec.layers;
  const auto tensor_group = group(stage, GroupKind::tensor);
  struct Exchanged {
    OpKind kind;
    double bytes, seconds;
  };
  std::vector<Exchanged> known;  // blocks are alike: a handful
  const auto exchange_seconds = [&](OpKind kind, double bytes) {
    for (const Exchanged& one : known)
      if (one.kind == kind && one.bytes == bytes) return one.seconds;
    return known.emplace_back(Exchanged{kind, bytes, collective(kind, tensor_group, bytes)}).seconds;
  };
  ChunkSeconds sum;
  for_each_segment(begin, end, [&](const SegmentSpec& segment, bool again) {
    const SegmentSeconds seconds = segment_seconds(model, segment, cluster, &measured);
    sum.forward += seconds.forward;
    sum.input_gradient += seconds.input_gradient;
    sum.weight_gradient += seconds.weight_gradient;
    const bool ahead = again && segment.block >= ahead_from;
    if (again) {
      sum.recompute += seconds.forward;
      if (ahead) sum.ahead += seconds.forward;
      sum.repeated_flops += segment.forward_flops;
    }
    for_each_exchange(segment, [&](const Exchange& exchange, double bytes) {
      const double forward = exchange.forward ? exchange_seconds(*exchange.forward, bytes) : 0;
      sum.exchange_forward += forward;
      if (exchange.backward) sum.exchange_backward += exchange_seconds(*exchange.backward, bytes);
      if (is_gathered_again(exchange)) sum.exchange_backward += forward;
      if (again) sum.exchange_recompute += forward;
      if (ahead) sum.ahead += forward;
    });
  });
  for (int i = begin; i < end; ++i)
    sum.exchange_backward -= hidden_exchange_seconds(scenario, model, static_cast<std::size_t>(i), tensor_group);
  if (scenario.plan.zero >= 2) add_sharding(sum, begin, end, stage);
  return sum;
}

// What data ranks with shards exchange of a chunk for one micro-batch, block by block.
void FoldedPlan::add_sharding(ChunkSeconds& sum, int begin, int end, int stage) const {
  const auto data_group = group(stage, GroupKind::data);
  if (data_group.size() < 2) return;
  const double gradient = gradient_bytes(cluster, model.type), sent = sent_gradient_bytes(cluster, model.type);
  const auto element = static_cast<double>(bytes_of(model.type));
  double known = 0, gather = 0, reduce = 0;  // blocks are alike
  for (const double elements : elements_of_parts(model, begin, end)) {
    if (elements != known) {
      known = elements;
      if (scenario.plan.zero == 3) gather = collective(OpKind::all_gather, data_group, elements * element);
      reduce = collective(OpKind::reduce_scatter, data_group, elements * sent);
    }
    sum.gather += gather;
    sum.reduce += reduce;
    sum.shard_bytes += elements * gradient / grid.data;
    if (sum.last_reduce == 0) sum.last_reduce = reduce;  // parts are reduced from the last to the first
  }
}

BlockSeconds fold_block(const Scenario& scenario) {
  const Model model = make_model(scenario);
  const int begin = model.segments_before_blocks();
  return FoldedPlan(scenario, model).seconds_of(begin, begin + model.segments_a_block(), 0);
}

}  // namespace rankscope
