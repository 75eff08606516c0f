#include "engine/simulate/ledger.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "engine/optimizer/rule/rule.hpp"

namespace rankscope {
namespace {

double element_of(const Model& model) { return static_cast<double>(bytes_of(model.type)); }

double stream_bytes(const Model& model) {
  return static_cast<double>(model.stream_tokens() * model.spec.width) * element_of(model);
}

/// Attention's scores in memory: [samples, heads/t, context, context].
double score_elements(const Model& model) {
  const auto s = static_cast<double>(model.spec.context);
  return s * s * model.micro_batch_size * model.spec.heads / model.tensor;
}

bool is_statistic(TensorName name) {
  using enum TensorName;
  return name == mean1 || name == rstd1 || name == mean2 || name == rstd2 || name == softmax;
}

/// Tensor ranks with sequence parallelism gather these for a product, and gather them again for its backward.
bool is_gathered(TensorName name) { return name == TensorName::norm1_all || name == TensorName::norm2_all; }

const TensorSpec* find_tensor(const SegmentSpec& segment, TensorName name) {
  for (const auto* list : {&segment.inputs, &segment.outputs})
    for (const TensorSpec& tensor : *list)
      if (tensor.name == name) return &tensor;
  return nullptr;
}

/// A tensor's gradient may be of one that only a neighbour of the segment names.
double bytes_of_tensor(const Model& model, const SegmentSpec& segment, TensorName name) {
  if (const TensorSpec* tensor = find_tensor(segment, name)) return static_cast<double>(tensor->bytes());
  for (const SegmentSpec& other : model.segments)
    if (const TensorSpec* tensor = find_tensor(other, name)) return static_cast<double>(tensor->bytes());
  return 0;
}

using Names = std::set<std::pair<int, TensorName>>;

class Keeper {
 public:
  Keeper(const Model& model, const ClusterSpec& cluster) : model_(model), cluster_(cluster) {}

  bool stores_scores() const { return cluster_.attention == "stored"; }
  bool stores_masks() const { return !cluster_.fused && model_.spec.dropout > 0; }
  /// As softmax leaves them, the mask, and as dropout leaves them.
  double scores() const {
    return stores_scores() ? score_elements(model_) * (element_of(model_) + (model_.spec.dropout > 0 ? 1 : 0) +
                                                       (model_.spec.dropout > 0 ? element_of(model_) : 0))
                           : 0;
  }
  double mask() const { return stores_masks() ? stream_bytes(model_) / element_of(model_) : 0; }

  void add(KeptBytes& to, const SegmentSpec& segment, const std::vector<TensorName>& names, Names& seen,
           std::optional<TensorName> skip = {}) const {
    for (const TensorName name : names) {
      if (name == TensorName::tokens || name == TensorName::targets || !seen.insert({segment.block, name}).second)
        continue;
      if (name == TensorName::softmax && stores_scores()) continue;
      if (skip == name) continue;
      double bytes = bytes_of_tensor(model_, segment, name);
      if (is_gathered(name)) bytes /= model_.tensor;
      // The loss in kernels of its own works on fp32.
      if (name == TensorName::logits && !cluster_.fused) bytes *= std::max(1.0, 4 / element_of(model_));
      (is_statistic(name) ? to.statistics : to.tensors) += bytes;
    }
  }

  /// What selective recomputation makes again besides the scores: this engine the core's result, too.
  std::optional<TensorName> made_again(bool selective) const {
    return selective && !cluster_.recompute_whole ? std::optional(TensorName::attended) : std::nullopt;
  }

  /// Everything of segments [begin, end).
  KeptBytes of(int begin, int end, bool selective) const {
    KeptBytes kept;
    Names seen;
    for (int i = begin; i < end; ++i) {
      const SegmentSpec& segment = model_.segments[static_cast<std::size_t>(i)];
      const double statistics = kept.statistics;
      add(kept, segment, segment.kept, seen, made_again(selective));
      if (segment.kind == Segment::attention) {
        if (selective)
          kept.statistics = statistics;  // its rows' sums come again with the scores
        else
          kept.tensors += scores();
      }
      const bool residual_sum = segment.kind == Segment::projection || segment.kind == Segment::down;
      if (residual_sum || segment.kind == Segment::embedding) kept.tensors += mask();
      const bool embedded = segment.kind == (model_.tensor == 1 ? Segment::embedding : Segment::positions);
      if (embedded && cluster_.embedding_norm) kept.tensors += stream_bytes(model_);
    }
    return kept;
  }

  /// What a half backward leaves for the other half.
  double between_halves(int begin, int end) const {
    KeptBytes kept;
    Names values, gradients;
    for (int i = begin; i < end; ++i) {
      const SegmentSpec& segment = model_.segments[static_cast<std::size_t>(i)];
      add(kept, segment, segment.weight_kept, values);
      add(kept, segment, segment.weight_gradient_inputs, gradients);
    }
    return kept.sum();
  }

  /// The most that the backward of segments [begin, end) needs beside what they keep, less what of that it has given up
  /// by then; with selective recomputation the scores that are there again.
  double transient(int begin, int end, bool selective) const {
    double most = 0, freed = 0;
    for (int i = end - 1; i >= begin; --i) {
      const SegmentSpec& segment = model_.segments[static_cast<std::size_t>(i)];
      double bytes = segment.block >= 0 ? stream_bytes(model_) : 0;  // the residual branch's gradient waits
      std::set<TensorName> seen;
      for (const auto* names : {&segment.gradient_inputs, &segment.gradient_outputs, &segment.handed_on})
        for (const TensorName name : *names)
          if (seen.insert(name).second) bytes += bytes_of_tensor(model_, segment, name);
      for (const TensorName name : segment.kept)
        if (is_gathered(name)) bytes += bytes_of_tensor(model_, segment, name);
      if (segment.kind == Segment::attention) {
        if (stores_scores()) bytes += 2 * score_elements(model_) * element_of(model_) + (selective ? scores() : 0);
        // The repeated core writes its result again.
        if (selective) bytes += bytes_of_tensor(model_, segment, TensorName::attended);
      }
      // Its gradient is cast back, and the product's own result is still there.
      if (segment.kind == Segment::head && !cluster_.fused)
        bytes += 2 * bytes_of_tensor(model_, segment, TensorName::logits);
      most = std::max(most, bytes - freed);
      freed += given_up_behind(segment, i, begin, selective);
    }
    return most;
  }

 private:
  /// Of what segment i keeps, that which no segment before it in [begin, i) reads too.
  double given_up_behind(const SegmentSpec& segment, int i, int begin, bool selective) const {
    KeptBytes kept;
    Names seen;
    for (int k = begin; k < i; ++k) {
      const SegmentSpec& before = model_.segments[static_cast<std::size_t>(k)];
      if (before.block == segment.block)
        for (const TensorName name : before.kept) seen.insert({before.block, name});
    }
    if (selective) seen.insert({segment.block, TensorName::softmax});
    add(kept, segment, segment.kept, seen, made_again(selective));
    return kept.sum() + (segment.kind == Segment::attention && !selective ? scores() : 0);
  }

  const Model& model_;
  const ClusterSpec& cluster_;
};

/// Of one chunk and micro-batch.
struct ChunkBytes {
  double kept = 0;    ///< from forward to backward
  double again = 0;   ///< computed again for the backward, less what it has given up: when it needs most
  double halves = 0;  ///< from the input gradient to the weight gradient
  double transient = 0;
  double largest_part = 0;  ///< elements of what ZeRO-3 gathers at a time
};

ChunkBytes bytes_of_chunk(const Keeper& keeper, const Scenario& scenario, const Model& model, int begin, int end) {
  const auto block_of = [&](int i) { return model.segments[static_cast<std::size_t>(i)].block; };
  int first = begin, last = end;  // of the blocks
  while (first < end && block_of(first) < 0) ++first;
  while (last > first && block_of(last - 1) < 0) --last;
  ChunkBytes chunk;
  chunk.halves = keeper.between_halves(begin, end);
  const int a_block = model.segments_a_block(), blocks = (last - first) / a_block;
  const int together = blocks_repeated_together(scenario.plan, blocks);
  const bool selective = scenario.plan.recompute == "selective";
  chunk.kept = keeper.of(begin, first, selective).sum() + keeper.of(last, end, selective).sum();
  if (together == 0) {
    chunk.kept += keeper.of(first, last, selective).sum();
    chunk.transient = keeper.transient(begin, end, selective);
    return chunk;
  }
  // From the last segment to the first; what is behind is given up.
  chunk.transient = keeper.transient(last, end, false);
  double given_up = keeper.of(last, end, false).sum();
  const int groups = (blocks + together - 1) / together;
  chunk.kept += groups * stream_bytes(model);
  for (int group = groups - 1; group >= 0; --group) {
    const int from = first + group * together * a_block,
              to = first + std::min(blocks, (group + 1) * together) * a_block;
    const double again = keeper.of(from, to, false).sum() - stream_bytes(model) - given_up;
    const double transient = keeper.transient(from, to, false);
    if (again + transient > chunk.again + chunk.transient) {
      chunk.again = again;
      chunk.transient = transient;
    }
    given_up += stream_bytes(model);
  }
  return chunk;
}

ClassBytes classes(double parameters, double gradients, double optimizer, double activations, double buffers) {
  const auto whole = [](double bytes) { return static_cast<std::int64_t>(std::llround(bytes)); };
  return {whole(parameters), whole(gradients), whole(optimizer), whole(activations), whole(buffers), 0};
}

}  // namespace

double gradient_bytes(const ClusterSpec& cluster, DType type) {
  const bool narrow = bytes_of(type) == 2;
  return narrow && cluster.reduced_bytes > 0 ? cluster.reduced_bytes
                                             : static_cast<double>(bytes_of(accumulation_type(type)));
}

double sent_gradient_bytes(const ClusterSpec& cluster, DType type) {
  return bytes_of(type) == 2 && cluster.sent_bytes > 0 ? cluster.sent_bytes : gradient_bytes(cluster, type);
}

int blocks_repeated_together(const PlanSpec& plan, int blocks) {
  if (plan.recompute == "sqrt") return static_cast<int>(std::ceil(std::sqrt(static_cast<double>(blocks))));
  return plan.recompute == "blocks" ? plan.recompute_blocks : 0;
}

std::vector<StageParameters> parameters_of_stages(const Scenario& scenario, const Model& model,
                                                  const ChunkSchedule& schedule,
                                                  const std::vector<int>& first_segment) {
  std::map<std::vector<std::array<int, 3>>, StageParameters> known;
  std::vector<StageParameters> stages;
  for (int stage = 0; stage < schedule.shape.stages; ++stage) {
    std::vector<std::array<int, 3>> parts;
    for (int c = 0; c < schedule.shape.chunks(); ++c)
      if (const auto chunk = static_cast<std::size_t>(c); schedule.stage_of_chunk[chunk] == stage)
        parts.push_back(parts_of(model, first_segment[chunk], first_segment[chunk + 1]));
    const auto [found, made] = known.try_emplace(std::move(parts));
    if (made) found->second = parameters_of_stage(scenario, model, schedule, first_segment, stage);
    stages.push_back(found->second);
  }
  return stages;
}

std::array<int, 3> parts_of(const Model& model, int begin, int end) {
  const auto in_block = [&](int i) { return model.segments[static_cast<std::size_t>(i)].block >= 0; };
  int first = begin, last = end;
  while (first < end && !in_block(first)) ++first;
  while (last > first && !in_block(last - 1)) --last;
  return {first - begin, (last - first) / model.segments_a_block(), end - last};
}

std::vector<double> elements_of_parts(const Model& model, int begin, int end) {
  std::vector<double> parts;
  std::set<int> seen;
  int part = -2;  // of the segment before: its block, or -1
  for (int i = begin; i < end; ++i) {
    const SegmentSpec& segment = model.segments[static_cast<std::size_t>(i)];
    if (segment.block != part) parts.push_back(0);
    part = segment.block;
    for (const int p : segment.parameters)
      if (seen.insert(p).second)
        parts.back() += static_cast<double>(model.parameters[static_cast<std::size_t>(p)].shape.elements());
  }
  return parts;
}

ModelStates model_states(double elements, const BytesPerParameter& each, int zero, int data) {
  const auto share = [&](int stage) { return zero >= stage ? elements / data : elements; };
  return {share(3) * each.parameter, share(2) * each.gradient, share(1) * each.states};
}

KeptBytes kept_by_block(const Model& model, const ClusterSpec& cluster, bool selective) {
  const int begin = model.segments_before_blocks();
  return Keeper(model, cluster).of(begin, begin + model.segments_a_block(), selective);
}

StageParameters parameters_of_stage(const Scenario& scenario, const Model& model, const ChunkSchedule& schedule,
                                    const std::vector<int>& first_segment, int stage) {
  const OptimizerRule& rule = optimizer_rule(scenario.train.optimizer);
  std::vector<bool> seen(model.parameters.size(), false);
  StageParameters sum;
  for (int c = 0; c < schedule.shape.chunks(); ++c) {
    const auto chunk = static_cast<std::size_t>(c);
    if (schedule.stage_of_chunk[chunk] != stage) continue;
    for (int i = first_segment[chunk]; i < first_segment[chunk + 1]; ++i)
      for (const int p : model.segments[static_cast<std::size_t>(i)].parameters) {
        const auto parameter = static_cast<std::size_t>(p);
        if (seen[parameter]) continue;
        seen[parameter] = true;
        const Shape& shape = model.parameters[parameter].shape;
        sum.elements += static_cast<double>(shape.elements());
        sum.largest = std::max(sum.largest, static_cast<double>(shape.elements()));
        for (const StateSpec& state :
             states_of(rule, UpdateTarget::whole(model.type, accumulation_type(model.type), shape)))
          sum.state_bytes += static_cast<double>(state.shape.elements() * bytes_of(state.type));
      }
  }
  return sum;
}

std::vector<StageMemory> fold_memory(const Scenario& scenario, const Model& model, const ChunkSchedule& schedule,
                                     const std::vector<int>& first_segment) {
  return fold_memory(scenario, model, schedule, first_segment,
                     parameters_of_stages(scenario, model, schedule, first_segment));
}

namespace {

/// What a rank of each stage holds, from op to op of its order.
class StageLedger {
 public:
  StageLedger(const Scenario& scenario, const Model& model, const ChunkSchedule& schedule,
              const std::vector<int>& first_segment)
      : scenario_(scenario), model_(model), schedule_(schedule) {
    const Keeper keeper(model, scenario.cluster);
    std::map<std::array<int, 3>, ChunkBytes> known;
    for (int c = 0; c < schedule.shape.chunks(); ++c) {
      const int begin = first_segment[static_cast<std::size_t>(c)],
                end = first_segment[static_cast<std::size_t>(c) + 1];
      const auto [found, made] = known.try_emplace(parts_of(model, begin, end));
      if (made) {
        found->second = bytes_of_chunk(keeper, scenario, model, begin, end);
        for (const double elements : elements_of_parts(model, begin, end))
          found->second.largest_part = std::max(found->second.largest_part, elements);
      }
      of_chunk_.push_back(found->second);
    }
  }

  /// What is there all the time, and what comes and goes with ops.
  struct Stage {
    double parameters = 0, gradients = 0, states = 0;
    double messages = 0;  ///< one on its way in each direction, coming and going
    double cast = 0;      ///< a parameter's gradient on its way to the sum
    double copies = 0;    ///< of all gradients, to be sent or for the update
    ClassBytes with(double more_gradients, double activations, double buffers) const {
      return classes(parameters, gradients + more_gradients, states, activations, buffers);
    }
  };

  Stage stage(int stage, const StageParameters& own) const {
    const ClusterSpec& cluster = scenario_.cluster;
    const PlanSpec& plan = scenario_.plan;
    const double gradient = gradient_bytes(cluster, model_.type);
    const bool copied = cluster.accumulation == "copied";
    Stage bytes;
    for_each_chunk(stage, [&](int c) {
      const bool from_before = c > 0 && stage_of(c - 1) != stage;
      const bool to_next = c + 1 < schedule_.shape.chunks() && stage_of(c + 1) != stage;
      bytes.messages = std::max(bytes.messages, 2 * stream_bytes(model_) * (from_before + to_next));
    });
    bytes.cast = copied ? own.largest * gradient : 0;
    // What is copied to the sum stays until the next backward makes it anew.
    const double kept_gradient = gradient + (copied ? element_of(model_) : 0);
    const ModelStates states = model_states(
        own.elements, {element_of(model_), kept_gradient, own.state_bytes / own.elements}, plan.zero, plan.data);
    // Reduced gradients of fewer than four bytes are copied to fp32 for an update in several passes, as far as it is
    // this rank's.
    if (!cluster.fused && gradient < 4) bytes.copies = 4 * own.elements / (plan.zero > 0 ? plan.data : 1);
    // Sums that are sent in fewer bytes are cast to a copy first: flat ones all at once (allreduce_bucket in
    // deepspeed/runtime/engine.py).
    if (const double sent = sent_gradient_bytes(cluster, model_.type); sent != gradient && plan.data > 1)
      bytes.copies = std::max(bytes.copies, sent * own.elements);
    // With shards, whole parameters and gradients of the parts at work: one that computes, and one on its way.
    const bool shards = plan.data > 1 && plan.zero >= 2;
    double part = 0;
    if (shards) for_each_chunk(stage, [&](int c) { part = std::max(part, of(c).largest_part); });
    const double bucket =
        plan.zero == 3 ? part * gradient : std::max(own.largest * gradient, plan.bucket_mib * 1048576);
    bytes.parameters =
        states.parameters + (shards && plan.zero == 3 ? std::min(2 * part, own.elements) * element_of(model_) : 0);
    bytes.gradients = states.gradients + (shards ? std::min(2 * bucket, own.elements * gradient) : 0);
    bytes.states = states.optimizer;
    return bytes;
  }

  /// Calls look(op, activations, buffers, more gradients) for every moment of the stage's order that may be its
  /// greatest, and last for what an op leaves behind.
  template <class Look>
  void follow(int stage, const Stage& with, Look look) const {
    double alive = 0;
    for (const OpId op : schedule_.order[static_cast<std::size_t>(stage)]) {
      const ChunkBytes& chunk = of(op.fields().chunk);
      switch (op.fields().kind) {
        case OpKind::forward: alive += chunk.kept; break;
        case OpKind::weight_gradient:
          look(op, alive, with.messages, 0.0);
          alive -= chunk.halves;
          look(op, alive, with.messages, with.cast);
          break;
        case OpKind::input_gradient:
          look(op, alive + std::max(chunk.again, chunk.halves - chunk.kept), chunk.transient, 0.0);
          alive += chunk.halves - chunk.kept;
          break;
        default:  // a schedule has no other kinds
          look(op, alive + chunk.again, chunk.transient, 0.0);
          alive -= chunk.kept;
          look(op, alive, with.messages, with.cast);
          break;
      }
      look(op, alive, with.messages, 0.0);
    }
  }

 private:
  const ChunkBytes& of(int chunk) const { return of_chunk_[static_cast<std::size_t>(chunk)]; }
  int stage_of(int chunk) const { return schedule_.stage_of_chunk[static_cast<std::size_t>(chunk)]; }
  template <class Visit>
  void for_each_chunk(int stage, Visit visit) const {
    for (int c = 0; c < schedule_.shape.chunks(); ++c)
      if (stage_of(c) == stage) visit(c);
  }

  const Scenario& scenario_;
  const Model& model_;
  const ChunkSchedule& schedule_;
  std::vector<ChunkBytes> of_chunk_;
};

}  // namespace

std::vector<StageMemory> fold_memory(const Scenario& scenario, const Model& model, const ChunkSchedule& schedule,
                                     const std::vector<int>& first_segment,
                                     const std::vector<StageParameters>& parameters) {
  const StageLedger ledger(scenario, model, schedule, first_segment);
  std::vector<StageMemory> memory;
  for (int s = 0; s < schedule.shape.stages; ++s) {
    const StageLedger::Stage stage = ledger.stage(s, parameters[static_cast<std::size_t>(s)]);
    double most_activations = 0, most_buffers = stage.messages, most = 0;
    double activations_then = 0, buffers_then = 0, gradients_then = 0;
    ledger.follow(s, stage, [&](OpId, double activations, double buffers, double more_gradients) {
      most_activations = std::max(most_activations, activations);
      most_buffers = std::max(most_buffers, buffers);
      if (activations + buffers + more_gradients <= most) return;
      most = activations + buffers + more_gradients;
      activations_then = activations;
      buffers_then = buffers;
      gradients_then = more_gradients;
    });
    StageMemory of_stage;
    of_stage.peak_by_class = stage.with(std::max(stage.copies, stage.cast), most_activations, most_buffers);
    of_stage.at_peak = most >= stage.copies ? stage.with(gradients_then, activations_then, buffers_then)
                                            : stage.with(stage.copies, 0, 0);
    memory.push_back(of_stage);
  }
  return memory;
}

std::vector<MemoryLevel> fold_memory_levels(const Scenario& scenario, const Model& model, const ChunkSchedule& schedule,
                                            const std::vector<int>& first_segment, int stage) {
  const StageLedger ledger(scenario, model, schedule, first_segment);
  const StageLedger::Stage with =
      ledger.stage(stage, parameters_of_stage(scenario, model, schedule, first_segment, stage));
  std::vector<MemoryLevel> levels;
  ledger.follow(stage, with, [&](OpId op, double activations, double buffers, double more_gradients) {
    const ClassBytes bytes = with.with(more_gradients, activations, buffers);
    if (levels.empty() || levels.back().op != op) levels.push_back({op, bytes, bytes});
    if (device_sum(bytes) > device_sum(levels.back().during)) levels.back().during = bytes;
    levels.back().after = bytes;
  });
  const ClassBytes between = with.with(0, 0, 0);
  levels.push_back({OpId::of({OpKind::optimizer, Purpose::none, -1, -1, -1, Segment::update}),
                    with.with(with.copies, 0, 0), between});
  return levels;
}

}  // namespace rankscope
