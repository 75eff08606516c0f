#include "engine/predict/cost/ledger.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "engine/plan/optimizer_rule/rule.hpp"
#include "engine/predict/cost/kernels.hpp"
#include "engine/predict/cost/stage_ledger.hpp"

namespace rankscope {
namespace {

double element_of(const Model& model) { return static_cast<double>(bytes_of(model.type)); }

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

double bytes_of_tensor(const Model& model, const SegmentSpec& segment, TensorName name) {
  const TensorSpec* tensor = find_tensor(model, segment, name);
  return tensor != nullptr ? static_cast<double>(tensor->bytes()) : 0;
}

using Names = std::set<std::pair<int, TensorName>>;

class Keeper {
 public:
  Keeper(const Model& model, const ClusterSpec& cluster) : model_(model), cluster_(cluster) {}

  bool stores_scores() const { return cluster_.software.attention == AttentionKernel::stored; }
  bool stores_masks() const { return !cluster_.software.fused && model_.spec.dropout > 0; }
  /// The scores after softmax, the mask, and the scores after dropout.
  double scores() const {
    if (!stores_scores()) return 0;
    const double softmax = has_wide_scores(cluster_) ? std::max(4.0, element_of(model_)) : element_of(model_);
    return score_elements(model_) * (softmax + (model_.spec.dropout > 0 ? 1 + element_of(model_) : 0));
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
      // The loss in separate kernels uses fp32.
      if (name == TensorName::logits && !cluster_.software.fused) bytes *= std::max(1.0, 4 / element_of(model_));
      (is_statistic(name) ? to.statistics : to.tensors) += bytes;
    }
  }

  /// What selective recomputation repeats in addition to the scores: in this engine also the core's result.
  std::optional<TensorName> made_again(bool selective) const {
    return selective && !cluster_.software.recompute_whole ? std::optional(TensorName::attended) : std::nullopt;
  }

  /// All kept bytes of segments [begin, end).
  KeptBytes of(int begin, int end, bool selective) {
    return sum(begin, end, kept_[selective], [&](KeptBytes& kept, const SegmentSpec& segment, Seen& seen) {
      const double statistics = kept.statistics;
      add(kept, segment, segment.kept, seen.values, made_again(selective));
      if (segment.does(Work::attention)) {
        if (selective)
          kept.statistics = statistics;  // its rows' sums are recomputed with the scores
        else
          kept.tensors += scores();
      }
      if (segment.does(Work::residual_sum) || segment.does(Work::positions)) kept.tensors += mask();
      if (segment.does(Work::positions) && cluster_.software.embedding_norm) kept.tensors += stream_bytes(model_);
    });
  }

  /// Bytes that a half backward keeps for the other half.
  double between_halves(int begin, int end) {
    return sum(begin, end, halves_,
               [&](KeptBytes& kept, const SegmentSpec& segment, Seen& seen) {
                 add(kept, segment, segment.weight_kept, seen.values);
                 add(kept, segment, segment.weight_gradient_inputs, seen.gradients);
               })
        .sum();
  }

  /// The most bytes that the backward of segments [begin, end) needs at one time in addition to their kept tensors.
  /// Kept tensors that are freed by then are subtracted. With selective recomputation it includes the recomputed
  /// scores.
  double transient(int begin, int end, bool selective) {
    double most = 0, freed = 0;
    for (int i = end - 1; i >= begin; --i) {
      const SegmentSpec& segment = model_.segments[i];
      auto& known = backward_[selective][static_cast<std::size_t>(segment.kind)];
      if (!known || segment.block < 0) known = backward_bytes(segment, i, begin, selective);
      most = std::max(most, known->needs - freed);
      freed += known->gives_up;
    }
    return most;
  }

 private:
  struct Seen {
    Names values, gradients;
  };
  /// Of one segment's backward.
  struct BackwardBytes {
    double needs = 0, gives_up = 0;
  };
  /// Of segments [begin, end) of complete, identical blocks; `a_block` is the result of one.
  template <class Add>
  KeptBytes sum(int begin, int end, std::optional<KeptBytes>& a_block, Add add_to) {
    KeptBytes kept;
    Seen outside;
    const int length = model_.segments_a_block();
    for (int i = begin; i < end;) {
      const SegmentSpec& segment = model_.segments[i];
      if (segment.block < 0) {
        add_to(kept, segment, outside);
        ++i;
        continue;
      }
      if (!a_block) {
        a_block.emplace();
        Seen seen;
        for (int k = i; k < i + length; ++k) add_to(*a_block, model_.segments[k], seen);
      }
      kept.tensors += a_block->tensors;
      kept.statistics += a_block->statistics;
      i += length;
    }
    return kept;
  }

  BackwardBytes backward_bytes(const SegmentSpec& segment, int i, int begin, bool selective) const {
    double bytes = segment.block >= 0 ? stream_bytes(model_) : 0;  // the residual branch's gradient waits
    std::set<TensorName> seen;
    for (const auto* names : {&segment.gradient_inputs, &segment.gradient_outputs})
      for (const TensorName name : *names)
        if (seen.insert(name).second) bytes += bytes_of_tensor(model_, segment, name);
    for (const TensorName name : segment.kept)
      if (is_gathered(name)) bytes += bytes_of_tensor(model_, segment, name);
    if (segment.does(Work::attention)) {
      if (stores_scores()) bytes += 2 * score_elements(model_) * element_of(model_) + (selective ? scores() : 0);
      // The repeated core writes its result again.
      if (selective) bytes += bytes_of_tensor(model_, segment, TensorName::attended);
    }
    // Its gradient is cast back, and the product's own result is still alive.
    if (segment.does(Work::loss_gradient) && !cluster_.software.fused)
      bytes += 2 * bytes_of_tensor(model_, segment, TensorName::logits);
    return {bytes, given_up_behind(segment, i, begin, selective)};
  }

  /// Of what segment i keeps, the part that no earlier segment in [begin, i) also reads.
  double given_up_behind(const SegmentSpec& segment, int i, int begin, bool selective) const {
    KeptBytes kept;
    Names seen;
    for (int k = begin; k < i; ++k) {
      const SegmentSpec& before = model_.segments[k];
      if (before.block == segment.block)
        for (const TensorName name : before.kept) seen.insert({before.block, name});
    }
    if (selective) seen.insert({segment.block, TensorName::softmax});
    add(kept, segment, segment.kept, seen, made_again(selective));
    return kept.sum() + (segment.does(Work::attention) && !selective ? scores() : 0);
  }

  const Model& model_;
  const ClusterSpec& cluster_;
  // Results for one block, or for the segments of one: [selective].
  std::optional<KeptBytes> kept_[2], halves_;
  std::array<std::optional<BackwardBytes>, segment_count> backward_[2];
};

}  // namespace

double stream_bytes(const Model& model) {
  return static_cast<double>(model.stream_tokens() * model.spec.width) * element_of(model);
}

double gradient_bytes(const ClusterSpec& cluster, DType type) {
  const bool narrow = bytes_of(type) == 2;
  return narrow && cluster.software.reduced_bytes > 0 ? cluster.software.reduced_bytes
                                                      : static_cast<double>(bytes_of(accumulation_type(type)));
}

double sent_gradient_bytes(const ClusterSpec& cluster, DType type) {
  return bytes_of(type) == 2 && cluster.software.sent_bytes > 0 ? cluster.software.sent_bytes
                                                                : gradient_bytes(cluster, type);
}

int blocks_repeated_together(const PlanSpec& plan, int blocks) {
  if (plan.recompute == Recompute::sqrt) return static_cast<int>(std::ceil(std::sqrt(static_cast<double>(blocks))));
  return plan.recompute == Recompute::blocks ? plan.recompute_blocks : 0;
}

std::array<int, 3> parts_of(const Model& model, int begin, int end) {
  const auto in_block = [&](int i) { return model.segments[i].block >= 0; };
  int first = begin, last = end;
  while (first < end && !in_block(first)) ++first;
  if (first == end && begin > 0) first = begin;  // only the head is after the blocks
  while (last > first && !in_block(last - 1)) --last;
  return {first - begin, (last - first) / model.segments_a_block(), end - last};
}

std::vector<double> elements_of_parts(const Model& model, int begin, int end) {
  std::vector<double> parts;
  std::vector<bool> seen(model.parameters.size(), false);
  int part = -2;  // of the segment before: its block, or -1
  for (int i = begin; i < end; ++i) {
    const SegmentSpec& segment = model.segments[i];
    if (segment.block != part) parts.push_back(0);
    part = segment.block;
    for (const int p : segment.parameters) {
      if (!seen[p]) parts.back() += static_cast<double>(model.parameters[p].shape.elements());
      seen[p] = true;
    }
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

double checkpoint_bytes_of_group(const ClusterSpec& cluster, const Model& model) {
  return stream_bytes(model) / (gathers_checkpoints(cluster, model) ? model.tensor : 1);
}

bool gathers_checkpoints(const ClusterSpec& cluster, const Model& model) {
  return cluster.software.split_checkpoints && !model.sequence_parallel && model.tensor > 1;
}

ChunkBytes bytes_of_chunk(const Scenario& scenario, const Model& model, int begin, int end) {
  Keeper keeper(model, scenario.cluster);
  const auto block_of = [&](int i) { return model.segments[i].block; };
  int first = begin, last = end;  // of the blocks
  while (first < end && block_of(first) < 0) ++first;
  while (last > first && block_of(last - 1) < 0) --last;
  ChunkBytes chunk;
  for (const double elements : elements_of_parts(model, begin, end))
    chunk.largest_part = std::max(chunk.largest_part, elements);
  chunk.halves = keeper.between_halves(begin, end);
  const int a_block = model.segments_a_block(), blocks = (last - first) / a_block;
  const int together = blocks_repeated_together(scenario.plan, blocks);
  const bool selective = scenario.plan.recompute == Recompute::selective;
  chunk.kept = keeper.of(begin, first, selective).sum() + keeper.of(last, end, selective).sum();
  if (together == 0 || blocks == 0) {
    chunk.kept += keeper.of(first, last, selective).sum();
    chunk.transient = keeper.transient(begin, end, selective);
    return chunk;
  }
  // From the last segment to the first; later ones are freed.
  chunk.transient = keeper.transient(last, end, false);
  double given_up = keeper.of(last, end, false).sum();
  const int groups = (blocks + together - 1) / together;
  // On the host, all but one being sent and one being fetched.
  const bool on_host = scenario.cluster.software.host_checkpoints;
  const double input = checkpoint_bytes_of_group(scenario.cluster, model);
  chunk.kept += (on_host ? std::min(groups, 2) : groups) * input;
  if (on_host) chunk.on_host = groups * input;
  for (int group = groups - 1; group >= 0; --group) {
    const int from = first + group * together * a_block,
              to = first + std::min(blocks, (group + 1) * together) * a_block;
    const double again = keeper.of(from, to, false).sum() - input - given_up;
    const double transient = keeper.transient(from, to, false);
    if (again + transient > chunk.again + chunk.transient) {
      chunk.again = again;
      chunk.transient = transient;
    }
    if (!on_host) given_up += input;
  }
  return chunk;
}

namespace {

StageParameters parameters_of_stage(const Scenario& scenario, const Model& model,
                                    const std::vector<int>& stage_of_chunk, const std::vector<int>& first_segment,
                                    int stage) {
  const OptimizerRule& rule = optimizer_rule(scenario.train.optimizer);
  std::vector<bool> seen(model.parameters.size(), false);
  StageParameters sum;
  for (std::size_t chunk = 0; chunk < stage_of_chunk.size(); ++chunk) {
    if (stage_of_chunk[chunk] != stage) continue;
    for (int i = first_segment[chunk]; i < first_segment[chunk + 1]; ++i)
      for (const int p : model.segments[i].parameters) {
        if (seen[p]) continue;
        seen[p] = true;
        const Shape& shape = model.parameters[p].shape;
        sum.elements += static_cast<double>(shape.elements());
        sum.largest = std::max(sum.largest, static_cast<double>(shape.elements()));
        for (const StateSpec& state :
             states_of(rule, UpdateTarget::whole(model.type, accumulation_type(model.type), shape)))
          sum.state_bytes += static_cast<double>(state.shape.elements() * bytes_of(state.type));
      }
  }
  return sum;
}

}  // namespace

std::vector<StageParameters> parameters_of_stages(const Scenario& scenario, const Model& model,
                                                  const std::vector<int>& stage_of_chunk,
                                                  const std::vector<int>& first_segment) {
  std::map<std::vector<std::array<int, 3>>, StageParameters> known;
  std::vector<StageParameters> stages;
  const int count = 1 + *std::max_element(stage_of_chunk.begin(), stage_of_chunk.end());
  for (int stage = 0; stage < count; ++stage) {
    std::vector<std::array<int, 3>> parts;
    for (std::size_t chunk = 0; chunk < stage_of_chunk.size(); ++chunk)
      if (stage_of_chunk[chunk] == stage)
        parts.push_back(parts_of(model, first_segment[chunk], first_segment[chunk + 1]));
    const auto [found, made] = known.try_emplace(std::move(parts));
    if (made) found->second = parameters_of_stage(scenario, model, stage_of_chunk, first_segment, stage);
    stages.push_back(found->second);
  }
  return stages;
}

}  // namespace rankscope
