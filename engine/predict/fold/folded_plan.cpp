#include "engine/predict/fold/folded_plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "engine/predict/cost/device.hpp"
#include "engine/predict/cost/host_copies.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/network/network.hpp"

namespace rankscope {
namespace {

const Scenario& foldable(const Scenario& scenario) {
  if (const std::string why = why_not_folded(scenario); !why.empty())
    throw std::invalid_argument("this plan cannot be folded: " + why);
  return scenario;
}

ModelTables& tables_of(const Scenario& scenario, FoldMemo& memo) {
  const std::tuple key{scenario.plan.tensor, scenario.micro_batch_size(), scenario.plan.sequence_parallel};
  if (const auto found = memo.models.find(key); found != memo.models.end()) return found->second;
  ModelTables tables;
  tables.model = make_model(scenario);
  return memo.models.emplace(key, std::move(tables)).first->second;
}

const Split& split_of(const PlanSpec& plan, const Model& model, FoldMemo& memo) {
  const std::tuple key{plan.tensor, plan.chunks(), plan.stages};
  if (const auto found = memo.splits.find(key); found != memo.splits.end()) return found->second;
  Split split{split_as_planned(model, plan), {}};
  for (std::size_t c = 0; c + 1 < split.first_segment.size(); ++c)
    split.parts.push_back(parts_of(model, split.first_segment[c], split.first_segment[c + 1]));
  return memo.splits.emplace(key, std::move(split)).first->second;
}

}  // namespace

const char* why_not_folded(const Scenario& scenario) {
  if (scenario.model.is_collective()) return "a single collective has no blocks";
  if (scenario.model.is_resnet()) return "the blocks of a resnet are not identical";
  if (scenario.plan.data_parallel != DataParallel::all_reduce) return "ranks of a data group are not identical";
  if (scenario.plan.offload != Offload::none && !keeps_gradients_on_host(scenario))
    return "work on the host that overlaps with the next step cannot be folded";
  if (scenario.plan.updates_each_micro_batch()) return "stages update after each micro-batch";
  if (!library_route(scenario.plan.collective)) return "no library has this algorithm of collectives (plan.collective)";
  if (scenario.cluster.software.collectives == Collectives::engine)
    return "collectives are the engine's own lists of transfers (software.collectives)";
  return "";
}

FoldedPlan::FoldedPlan(const Scenario& of, FoldMemo& with)
    : scenario(foldable(of)),
      cluster(of.cluster),
      memo(with),
      tables(tables_of(of, with)),
      model(tables.model),
      grid(of.plan.grid()),
      schedule(with.schedules.of(of.plan)),
      split(split_of(of.plan, model, with)),
      messages_(with.messages[{GridKey{grid.tensor, grid.data, grid.pipeline}, model.micro_batch_size,
                               model.sequence_parallel}]) {
  if (!memo.measured) memo.measured.emplace(cluster.costs, of.plan.precision.name());
}

double FoldedPlan::collective(OpKind kind, const std::vector<int>& members, double bytes) const {
  return collective_seconds(cluster, *library_route(scenario.plan.collective), kind, members, bytes);
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
  // With shards each data rank has its part of it; other software sums all of it.
  const double parts = shards() && cluster.software.fused ? grid.data : 1;
  return static_cast<double>(model.vocabulary_share() * model.spec.width) * gradient_bytes(cluster, model.type) / parts;
}

double FoldedPlan::gradient_elements(int chunk) const {
  double elements = 0;
  for (const double part : elements_of_parts(model, begin_of(chunk), end_of(chunk))) elements += part;
  return elements / (shards() ? grid.data : 1);
}

int FoldedPlan::repeated_groups(int chunk) const {
  const int blocks = split.parts[chunk][1];
  const int together = blocks_repeated_together(scenario.plan, blocks);
  return together == 0 ? 0 : (blocks + together - 1) / together;
}

double FoldedPlan::checkpoint_bytes(int chunk) const {
  return repeated_groups(chunk) * checkpoint_bytes_of_group(cluster, model);
}

bool FoldedPlan::is_gathered_again(const Exchange& exchange) const {
  return model.sequence_parallel && !cluster.software.fused && exchange.forward == OpKind::all_gather &&
         exchange.purpose == Purpose::tensor;
}

FoldedPlan::Blocks FoldedPlan::blocks_of(int begin, int end) const {
  Blocks blocks{model.spec.layers, -1};
  for (int i = begin; i < end; ++i)
    if (const int block = model.segments[i].block; block >= 0) {
      blocks.first = std::min(blocks.first, block);
      blocks.last = std::max(blocks.last, block);
    }
  if (blocks.last < 0) blocks.last = blocks.first - 1;
  return blocks;
}

bool FoldedPlan::is_repeated(const SegmentSpec& segment, const Blocks& blocks) const {
  if (segment.block < 0) return false;
  if (scenario.plan.recompute == Recompute::selective) return segment.does(Work::attention);
  const int together = blocks_repeated_together(scenario.plan, blocks.last - blocks.first + 1);
  if (together == 0) return false;
  // No backward reads the result of a group's last product.
  const bool last = segment.block == blocks.last || (segment.block - blocks.first) % together == together - 1;
  return cluster.software.recompute_whole || !last || segment.repeated;
}

const SegmentSeconds& FoldedPlan::segment(const SegmentSpec& segment) {
  auto& known = tables.segments[static_cast<std::size_t>(segment.kind)];
  if (!known) known = segment_seconds(model, segment, cluster, &*memo.measured);
  return *known;
}

std::vector<ChunkSeconds> FoldedPlan::chunk_seconds() {
  const Recomputation again = recomputation();
  const bool shares = scenario.plan.zero >= 2 && grid.data > 1;
  const int per_node = std::max(1, cluster.devices_per_node);
  struct Known {
    const Parts* parts;
    int place;
    std::size_t chunk;
  };
  std::vector<Known> known;  // a handful
  std::vector<ChunkSeconds> seconds;
  seconds.reserve(static_cast<std::size_t>(chunks()));
  for (int c = 0; c < chunks(); ++c) {
    const Parts& parts = split.parts[c];
    const int rank = grid.rank_of({0, 0, stage_of(c)}), place = rank % per_node;
    const auto same = std::find_if(known.rbegin(), known.rend(),
                                   [&](const Known& one) { return *one.parts == parts && one.place == place; });
    if (same != known.rend()) {
      seconds.push_back(seconds[same->chunk]);
      continue;
    }
    // All tensor groups within a node are identical.
    const std::tuple key{again, parts, place + grid.tensor <= per_node ? place : rank};
    auto found = tables.chunks.find(key);
    if (found == tables.chunks.end())
      found = tables.chunks.emplace(key, seconds_of(begin_of(c), end_of(c), stage_of(c))).first;
    seconds.push_back(found->second);
    if (shares) seconds.back().sharding = sharding(c);
    known.push_back({&parts, place, static_cast<std::size_t>(c)});
  }
  return seconds;
}

ChunkSeconds FoldedPlan::seconds_of(int begin, int end, int stage) {
  // This engine recomputes a chunk's last blocks while it waits for their gradient.
  const Blocks blocks = blocks_of(begin, end);
  const int together = blocks_repeated_together(scenario.plan, blocks.last - blocks.first + 1);
  const bool ends_in_block = model.segments[end - 1].block >= 0;
  const int ahead_from = cluster.software.overlap && ends_in_block && together > 0
                             ? blocks.first + (blocks.last - blocks.first) / together * together
                             : model.spec.layers;
  const auto tensor_group = group(stage, GroupKind::tensor);
  struct Exchanged {
    OpKind kind;
    double bytes, seconds;
  };
  std::vector<Exchanged> known;  // blocks are identical: a handful
  const auto exchange_seconds = [&](OpKind kind, double bytes) {
    for (const Exchanged& one : known)
      if (one.kind == kind && one.bytes == bytes) return one.seconds;
    return known.emplace_back(Exchanged{kind, bytes, collective(kind, tensor_group, bytes)}).seconds;
  };
  ChunkSeconds sum;
  for_each_segment(begin, end, [&](const SegmentSpec& one, bool again) {
    const SegmentSeconds& seconds = segment(one);
    sum.forward += seconds.forward;
    sum.input_gradient += seconds.input_gradient;
    sum.weight_gradient += seconds.weight_gradient;
    const bool ahead = again && one.block >= ahead_from;
    if (again) {
      sum.recompute += seconds.forward;
      if (ahead) sum.ahead += seconds.forward;
      sum.repeated_flops += one.forward_flops;
    }
    for_each_exchange(one, [&](const Exchange& exchange, double bytes) {
      const double forward = exchange.forward ? exchange_seconds(*exchange.forward, bytes) : 0;
      sum.exchange_forward += forward;
      if (exchange.backward) sum.exchange_backward += exchange_seconds(*exchange.backward, bytes);
      if (is_gathered_again(exchange)) sum.exchange_backward += forward;
      if (again) sum.exchange_recompute += forward;
      if (ahead) sum.ahead += forward;
    });
  });
  if (together > 0 && gathers_checkpoints(cluster, model)) {
    const int count = blocks.last - blocks.first + 1;
    const double gather = exchange_seconds(OpKind::all_gather, stream_bytes());
    sum.exchange_recompute += (count + together - 1) / together * gather;
    if (ahead_from <= blocks.last) sum.ahead += gather;
  }
  std::array<std::optional<double>, segment_count> hidden;  // by kind
  for (int i = begin; i < end; ++i) {
    auto& of_kind = hidden[static_cast<std::size_t>(model.segments[i].kind)];
    if (!of_kind) of_kind = hidden_exchange_seconds(scenario, model, i, tensor_group);
    sum.exchange_backward -= *of_kind;
  }
  return sum;
}

// Part by part: blocks, and the segments before and after them.
const Sharding& FoldedPlan::sharding(int chunk) {
  const int stage = stage_of(chunk), zero = scenario.plan.zero;
  const Parts& parts = split.parts[chunk];
  const std::tuple key{GridKey{grid.tensor, grid.data, grid.pipeline}, stage, parts, zero};
  if (const auto found = memo.sharding.find(key); found != memo.sharding.end()) return found->second;
  const auto data_group = group(stage, GroupKind::data);
  const double gradient = gradient_bytes(cluster, model.type), sent = sent_gradient_bytes(cluster, model.type);
  const auto element = static_cast<double>(bytes_of(model.type));
  Sharding sum;
  double known = 0, gather = 0, reduce = 0;  // blocks are identical
  for (const double elements : elements_of_parts(model, begin_of(chunk), end_of(chunk))) {
    if (elements != known) {
      known = elements;
      if (zero == 3) gather = collective(OpKind::all_gather, data_group, elements * element);
      reduce = collective(OpKind::reduce_scatter, data_group, elements * sent);
    }
    sum.gather += gather;
    sum.reduce += reduce;
    sum.shard_bytes += elements * gradient / grid.data;
    if (sum.last_reduce == 0) sum.last_reduce = reduce;  // parts are reduced from the last to the first
  }
  return memo.sharding.emplace(key, sum).first->second;
}

double FoldedPlan::message_seconds(int from, int to) const {
  const auto receivers = model.sequence_parallel ? std::vector<int>{} : group(to, GroupKind::tensor);
  // Replicas are identical, but one may have a node with slow ports: it is the slowest.
  double seconds = 0;
  const int replicas = cluster.slow_node >= 0 ? grid.data : 1;
  for (int d = 0; d < replicas; ++d)
    seconds =
        std::max(seconds, stage_message_cost(cluster, grid.rank_of({0, d, from}), grid.rank_of({0, d, to}), receivers)
                              .seconds(own_stream_bytes()));
  return seconds;
}

double FoldedPlan::message(int from, int to) {
  const auto [found, made] = messages_.try_emplace({from, to});
  if (made) found->second = message_seconds(from, to);
  return found->second;
}

StagesKey FoldedPlan::stages_key() const {
  const bool cyclic = is_cyclic(schedule.stage_of_chunk, grid.pipeline);
  return {grid.tensor, grid.pipeline, schedule.shape.virtual_stages,
          cyclic ? std::vector<int>{} : schedule.stage_of_chunk, scenario.plan.stages};
}

const std::vector<StageParameters>& FoldedPlan::parameters() {
  const auto [found, made] = memo.parameters.try_emplace(stages_key());
  if (made) found->second = parameters_of_stages(scenario, model, schedule.stage_of_chunk, split.first_segment);
  return found->second;
}

StageEnd FoldedPlan::end_of_stage(int stage, const StageParameters& own) const {
  const auto element = static_cast<double>(bytes_of(model.type));
  const double gradient = gradient_bytes(cluster, model.type), sent = sent_gradient_bytes(cluster, model.type);
  const bool loss_scale = scenario.plan.precision == Precision::fp16;
  const double elements = own.elements, states = own.state_bytes;
  const double update = update_bytes_per_parameter(cluster, element, gradient, states / elements, loss_scale);
  const auto data_group = group(stage, GroupKind::data);
  const bool scatters = shards() && !cluster.software.reduce_whole;
  StageEnd end;
  end.reduce = collective(scatters ? OpKind::reduce_scatter : OpKind::all_reduce, data_group, elements * sent);
  if (sent != gradient && grid.data > 1)  // cast, and cast back
    end.reduce += 2 * memory_seconds(cluster, elements * (gradient + sent));
  const double updated = elements / (shards() ? grid.data : 1);
  end.update = keeps_gradients_on_host(scenario)
                   ? host_end_seconds(cluster, model.type, updated, states / elements, loss_scale)
                   : memory_seconds(cluster, updated * update);
  if (shards() && scenario.plan.zero < 3) end.gather = collective(OpKind::all_gather, data_group, elements * element);
  return end;
}

const StepEnd& FoldedPlan::step_end() {
  const auto [found, made] = memo.ends.try_emplace({stages_key(), grid.data, scenario.plan.zero});
  if (!made) return found->second;
  StepEnd& end = found->second;
  const std::vector<StageParameters>& own = parameters();
  for (int stage = 0; stage < grid.pipeline; ++stage) end.stages.push_back(end_of_stage(stage, own[stage]));
  if (const double bytes = embedding_bytes(); bytes > 0)
    end.embedding = collective(OpKind::all_reduce, group(schedule.stage_of_chunk.front(), GroupKind::embedding), bytes);
  return end;
}

StageLedger FoldedPlan::ledger() {
  const Recomputation again = recomputation();
  std::vector<ChunkBytes> of_chunk;
  of_chunk.reserve(split.parts.size());
  for (int c = 0; c < chunks(); ++c) {
    if (c > 0 && split.parts[c] == split.parts[c - 1]) {
      of_chunk.push_back(of_chunk.back());
      continue;
    }
    const std::pair key{again, split.parts[c]};
    auto found = tables.bytes.find(key);
    if (found == tables.bytes.end())
      found = tables.bytes.emplace(key, bytes_of_chunk(scenario, model, begin_of(c), end_of(c))).first;
    of_chunk.push_back(found->second);
  }
  return {scenario, model, schedule, parameters(), std::move(of_chunk)};
}

std::vector<StageMemory> FoldedPlan::memory() {
  const StageLedger of_plan = ledger();
  auto& known = memo.peaks;
  if (known.tables != &tables || known.schedule != &schedule || known.split != &split ||
      known.recomputation != recomputation())
    known = {&tables, &schedule, &split, recomputation(), of_plan.peaks()};
  return of_plan.memory(known.stages);
}

std::vector<MemoryLevel> FoldedPlan::memory_levels(int stage) { return ledger().levels(stage); }

BlockSeconds fold_block(const Scenario& scenario) {
  Schedules schedules;
  FoldMemo memo(schedules);
  FoldedPlan plan(scenario, memo);
  const int begin = plan.model.segments_before_blocks();
  return plan.seconds_of(begin, begin + plan.model.segments_a_block(), 0);
}

}  // namespace rankscope
