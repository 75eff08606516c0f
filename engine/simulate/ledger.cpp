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
  return cluster.reduced_bytes > 0 ? cluster.reduced_bytes : static_cast<double>(bytes_of(accumulation_type(type)));
}

double sent_gradient_bytes(const ClusterSpec& cluster, DType type) {
  return cluster.sent_bytes > 0 ? cluster.sent_bytes : gradient_bytes(cluster, type);
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

std::vector<StageMemory> fold_memory(const Scenario& scenario, const Model& model, const ChunkSchedule& schedule,
                                     const std::vector<int>& first_segment,
                                     const std::vector<StageParameters>& parameters) {
  const ClusterSpec& cluster = scenario.cluster;
  const Keeper keeper(model, cluster);
  const int chunks = schedule.shape.chunks();
  std::vector<ChunkBytes> of_chunk;
  std::map<std::array<int, 3>, ChunkBytes> known;
  for (int c = 0; c < chunks; ++c) {
    const int begin = first_segment[static_cast<std::size_t>(c)], end = first_segment[static_cast<std::size_t>(c) + 1];
    const auto [found, made] = known.try_emplace(parts_of(model, begin, end));
    if (made) {
      found->second = bytes_of_chunk(keeper, scenario, model, begin, end);
      for (const double elements : elements_of_parts(model, begin, end))
        found->second.largest_part = std::max(found->second.largest_part, elements);
    }
    of_chunk.push_back(found->second);
  }
  const auto stage_of = [&](int c) { return schedule.stage_of_chunk[static_cast<std::size_t>(c)]; };

  std::vector<StageMemory> memory;
  for (int stage = 0; stage < schedule.shape.stages; ++stage) {
    double messages = 0;  // one on its way in each direction, coming and going
    for (int c = 0; c < chunks; ++c) {
      if (stage_of(c) != stage) continue;
      const bool from_before = c > 0 && stage_of(c - 1) != stage, to_next = c + 1 < chunks && stage_of(c + 1) != stage;
      messages = std::max(messages, 2 * stream_bytes(model) * (from_before + to_next));
    }
    const StageParameters& own = parameters[static_cast<std::size_t>(stage)];
    const double gradient = gradient_bytes(cluster, model.type);
    const bool copied = cluster.accumulation == "copied";
    const double cast = copied ? own.largest * gradient : 0;  // a parameter's gradient on its way to the sum
    double alive = 0, most_activations = 0, most_buffers = messages, most = 0;
    double activations_then = 0, buffers_then = 0, gradients_then = 0;
    const auto look = [&](double activations, double buffers, double more_gradients = 0) {
      most_activations = std::max(most_activations, activations);
      most_buffers = std::max(most_buffers, buffers);
      if (activations + buffers + more_gradients <= most) return;
      most = activations + buffers + more_gradients;
      activations_then = activations;
      buffers_then = buffers;
      gradients_then = more_gradients;
    };
    for (const OpId op : schedule.order[static_cast<std::size_t>(stage)]) {
      const ChunkBytes& chunk = of_chunk[static_cast<std::size_t>(op.fields().chunk)];
      switch (op.fields().kind) {
        case OpKind::forward:
          alive += chunk.kept;
          look(alive, messages);
          break;
        case OpKind::weight_gradient:
          look(alive, messages);
          alive -= chunk.halves;
          look(alive, messages, cast);
          break;
        case OpKind::input_gradient:
          look(alive + std::max(chunk.again, chunk.halves - chunk.kept), chunk.transient);
          alive += chunk.halves - chunk.kept;
          break;
        default:  // a schedule has no other kinds
          look(alive + chunk.again, chunk.transient);
          alive -= chunk.kept;
          look(alive, messages, cast);
          break;
      }
    }
    // What is copied to the sum stays until the next backward makes it anew.
    const double kept_gradient = gradient + (copied ? element_of(model) : 0);
    const ModelStates states =
        model_states(own.elements, {element_of(model), kept_gradient, own.state_bytes / own.elements},
                     scenario.plan.zero, scenario.plan.data);
    // Reduced gradients of fewer than four bytes are copied to fp32 for an update in several passes, as far as it is
    // this rank's.
    double copies = 0;
    if (!cluster.fused && gradient < 4) copies = 4 * own.elements / (scenario.plan.zero > 0 ? scenario.plan.data : 1);
    // With shards, whole parameters and gradients of the parts at work: one that computes, and one on its way.
    const bool shards = scenario.plan.data > 1 && scenario.plan.zero >= 2;
    double part = 0;
    for (int c = 0; shards && c < chunks; ++c)
      if (stage_of(c) == stage) part = std::max(part, of_chunk[static_cast<std::size_t>(c)].largest_part);
    const double bucket = scenario.plan.zero == 3
                              ? part * gradient
                              : std::max(own.largest * gradient, scenario.plan.bucket_mib * 1048576);
    const double whole_gradients = shards ? std::min(2 * bucket, own.elements * gradient) : 0;
    const double whole_parameters =
        shards && scenario.plan.zero == 3 ? std::min(2 * part, own.elements) * element_of(model) : 0;
    const auto with = [&](double more_gradients, double activations, double buffers) {
      return classes(states.parameters + whole_parameters, states.gradients + whole_gradients + more_gradients,
                     states.optimizer, activations, buffers);
    };
    StageMemory of_stage;
    of_stage.peak_by_class = with(std::max(copies, cast), most_activations, most_buffers);
    of_stage.at_peak = most >= copies ? with(gradients_then, activations_then, buffers_then) : with(copies, 0, 0);
    memory.push_back(of_stage);
  }
  return memory;
}

}  // namespace rankscope
