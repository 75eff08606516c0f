// ZeRO (Rajbhandari et al. 2020, arXiv 1910.02054): the data group's ranks divide what plain data parallelism has on
// each of them. Every bucket's flat gradients and parameters are cut into equal shards, one per rank, even inside
// a tensor; each rank updates the pieces of tensors in its shard.
//
//   stage   parameters       gradients                                  states
//   1       whole            whole; reduce-scattered once a step        pieces
//   2       whole            a shard; a bucket's whole ones live from   pieces
//                            a micro-batch's backward until the next
//                            bucket's are complete
//   3       a shard; whole   as in stage 2                              pieces
//           ones live from
//           their gather to
//           their last use
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/plan/program/bucket.hpp"
#include "engine/plan/program/passes.hpp"

namespace rankscope {
namespace {

/// The names of the bucket's buffers: "gradients:bucket3", "parameters:bucket3:m2:shard".
std::string name_of_base(const char* what, const Bucket& bucket, const std::string& more = {}) {
  return fmt::format("{}:bucket{}{}", what, bucket.index, more);
}

Op collective(const OpFields& fields, std::vector<BufferUse> uses) {
  return {OpId::of(fields), GroupKind::data, -1, std::move(uses)};
}

class GradientSharding {
 public:
  GradientSharding(RankProgram program, const StepProgram& step)
      : program_(std::move(program)),
        step_(step),
        at_(step.grid.coordinates_of(program_.rank)),
        parameters_(program_, BufferRole::parameter),
        gradients_(program_, BufferRole::gradient) {}

  RankProgram run() {
    const std::vector<Bucket> buckets = buckets_of(step_, at_.pipeline);
    actions_ = actions_of(program_);
    completions_ = completions_of(buckets);
    for (const Bucket& bucket : buckets) {
      const BufferIndex values = shard_parameters(bucket);
      const BufferIndex gradients = step_.zero() == 1 ? reduce_once(bucket) : reduce_each_micro_batch(bucket);
      sum_over_tensor_ranks(bucket, gradients);
      if (shares_embedding(step_, program_.rank) && bucket.entries.front().parameter == embedding())
        insertions_.push_back({program_.ops.size(), embedding_reduction(gradients)});
      add_pieces(program_, step_, bucket, gradients, at_.data, step_.grid.data, "piece:gradient:");
      add_pieces(program_, step_, bucket, values, at_.data, step_.grid.data, "piece:");
    }
    program_ = insert_ops(std::move(program_), std::move(insertions_));
    unused_.resize(program_.buffers.size(), false);
    return drop_buffers(std::move(program_), unused_);
  }

 private:
  int embedding() const { return step_.model.segments.front().parameters.front(); }
  std::int64_t shard_elements(const Bucket& bucket) const { return bucket.elements / step_.grid.data; }
  std::int64_t shard_begin(const Bucket& bucket) const { return shard_elements(bucket) * at_.data; }

  BufferIndex add_shard(const Bucket& bucket, const char* what, const Buffer& like) {
    Buffer shard{
        name_of_base(what, bucket, ":shard"), like.role, like.memory, like.type, {shard_elements(bucket)}, true};
    shard.shard_of = bucket.index;
    return program_.add(std::move(shard));
  }
  /// This rank's shard of a whole bucket, as a view.
  BufferIndex own_shard(const Bucket& bucket, BufferIndex base, std::string name) {
    return view_shard(program_, bucket, base, at_.data, step_.grid.data, std::move(name));
  }

  /// The rank's shard of the bucket's parameters: in stage 3 a buffer of its own, else a view in the whole.
  BufferIndex shard_parameters(const Bucket& bucket) {
    const std::vector<BufferIndex> whole = parameters_.of(bucket);
    if (step_.zero() == 3) return add_shard(bucket, "parameters", Buffer(program_.buffers[whole.front()]));
    const BufferIndex base = add_base(program_, bucket, name_of_base("parameters", bucket), whole);
    return own_shard(bucket, base, name_of_base("parameters", bucket, ":shard"));
  }

  void reduce_scatter(std::size_t position, const Bucket& bucket, int micro_batch, std::vector<BufferUse> uses) {
    insertions_.push_back({position, collective({OpKind::reduce_scatter, Purpose::zero_gradient, bucket.chunk,
                                                 micro_batch, -1, Segment::whole, bucket.index},
                                                std::move(uses))});
  }

  /// Stage 1: the sum over all micro-batches, in place. Returns the shard.
  BufferIndex reduce_once(const Bucket& bucket) {
    const std::vector<BufferIndex> gradients = gradients_.of(bucket);
    const std::size_t complete = after_last_use(program_, gradients);
    const BufferIndex base = add_base(program_, bucket, name_of_base("gradients", bucket), gradients);
    reduce_scatter(complete, bucket, -1, {{base, Access::accumulate}});
    return own_shard(bucket, base, name_of_base("gradients", bucket, ":shard"));
  }

  /// The position where each bucket of each micro-batch is complete.
  std::set<std::size_t> completions_of(const std::vector<Bucket>& buckets) const {
    std::map<BufferIndex, int> bucket_of;
    for (const Bucket& bucket : buckets)
      for (const BufferIndex b : gradients_.of(bucket)) bucket_of[b] = bucket.index;
    std::map<std::pair<int, int>, std::size_t> last;
    for (std::size_t i = 0; i < program_.ops.size(); ++i)
      for (const BufferUse& use : program_.ops[i].uses)
        if (const auto found = bucket_of.find(use.buffer); found != bucket_of.end())
          last[{found->second, program_.ops[i].id.fields().micro_batch}] = i + 1;
    std::set<std::size_t> completions;
    for (const auto& [of, position] : last) completions.insert(position);
    return completions;
  }

  /// Where compute waits for the reduction of a bucket that is complete at `position`: when the next bucket of the same
  /// action is complete, or after the action's last bucket at the next action's end. So the reduction has that time,
  /// and whole gradients of only few buckets are alive at a time. Compared to a wait at the step's end, this halves the
  /// peak of the lab "zero" with four micro-batches; simulated over links of 10 to 0.1 GB/s it costs 0 to 2 % of a step
  /// of one micro-batch, and 0 to 14 % of one of four, most where a reduction takes about as long as a bucket's
  /// backward.
  std::size_t one_bucket_later(std::size_t position) const {
    std::size_t a = 0;
    while (a + 1 < actions_.size() && actions_[a].end < position) ++a;
    const auto next = completions_.upper_bound(position);
    if (next != completions_.end() && *next <= actions_[a].end) return *next;
    return actions_[std::min(a + 1, actions_.size() - 1)].end;
  }

  /// Stages 2 and 3: every micro-batch has its own whole gradients, whose sum over the group is added to the shard.
  /// Returns the shard.
  BufferIndex reduce_each_micro_batch(const Bucket& bucket) {
    const std::vector<BufferIndex> whole = gradients_.of(bucket);
    const BufferIndex shard = add_shard(bucket, "gradients", Buffer(program_.buffers[whole.front()]));
    std::map<BufferIndex, std::size_t> entry_of;
    for (std::size_t e = 0; e < whole.size(); ++e) entry_of[whole[e]] = e;
    unused_.resize(program_.buffers.size(), false);
    for (const BufferIndex b : whole) unused_[b] = true;
    /// A micro-batch's buffers, parallel to entries, and where they are complete.
    struct Own {
      std::vector<std::optional<BufferIndex>> gradients;
      std::size_t complete = 0;
    };
    std::map<int, Own> own_of;
    for (std::size_t i = 0; i < program_.ops.size(); ++i)
      for (BufferUse& use : program_.ops[i].uses) {
        const auto entry = entry_of.find(use.buffer);
        if (entry == entry_of.end()) continue;
        const int micro_batch = program_.ops[i].id.fields().micro_batch;
        Own& own = own_of[micro_batch];
        own.gradients.resize(bucket.entries.size());
        std::optional<BufferIndex>& gradient = own.gradients[entry->second];
        use.access = gradient ? Access::accumulate : Access::write;
        if (!gradient) {
          Buffer buffer = program_.buffers[use.buffer];
          buffer.persistent = false;
          buffer.micro_batch = micro_batch;
          buffer.name = fmt::format("m{}:{}", micro_batch, buffer.name);
          gradient = program_.add(std::move(buffer));
        }
        use.buffer = *gradient;
        own.complete = i + 1;
      }
    const Own* first = nullptr;
    for (const auto& [m, own] : own_of)
      if (!first || own.complete < first->complete) first = &own;
    for (const auto& [m, own] : own_of) {
      std::vector<BufferIndex> gradients;
      for (const auto& gradient : own.gradients) gradients.push_back(gradient.value());
      const std::string name = name_of_base("gradients", bucket, fmt::format(":m{}", m));
      const BufferIndex base = add_base(program_, bucket, name, gradients);
      reduce_scatter(own.complete, bucket, m, {{base, Access::accumulate}});
      // The compute lane releases the whole gradients, so the time of the release does not depend on the reduction.
      const BufferIndex part = own_shard(bucket, base, name + ":shard");
      insertions_.push_back(
          {one_bucket_later(own.complete),
           {OpId::of({OpKind::optimizer, Purpose::none, bucket.chunk, m, -1, Segment::accumulate, bucket.index}),
            GroupKind::self,
            -1,
            {{shard, &own == first ? Access::write : Access::accumulate}, {part, Access::read}}}});
    }
    return shard;
  }

  /// The summed part of the rank's shard, which its tensor group's ranks have at the same place.
  void sum_over_tensor_ranks(const Bucket& bucket, BufferIndex shard) {
    const std::int64_t count = std::min(bucket.summed - shard_begin(bucket), shard_elements(bucket));
    if (count <= 0) return;
    const Buffer& whole = program_.buffers[shard];
    Buffer view{name_of_base("gradients", bucket, ":summed"), whole.role, whole.memory, whole.type, {count}, true};
    view.within = static_cast<int>(base_of(program_.buffers, shard));
    view.at = whole.at;
    insertions_.push_back(
        {program_.ops.size(), tensor_reduction(bucket.chunk, bucket.index, program_.add(std::move(view)))});
  }

  RankProgram program_;
  const StepProgram& step_;
  Coordinates at_;
  const WholeBuffers parameters_, gradients_;
  std::vector<Action> actions_;
  std::set<std::size_t> completions_;  ///< see completions_of
  std::vector<Insertion> insertions_;
  std::vector<bool> unused_;  ///< whole gradients that micro-batches' own have replaced
};

/// Consecutive ops of one kind and micro-batch that use a bucket's parameters share a gather, identified by its id.
int phase_of(OpKind kind) {
  if (kind == OpKind::forward) return 0;
  if (kind == OpKind::recompute) return 1;
  return kind == OpKind::weight_gradient ? 3 : 2;
}
constexpr int phases = 4;

class ParameterGathering {
 public:
  ParameterGathering(RankProgram program, const StepProgram& step)
      : program_(std::move(program)),
        step_(step),
        buckets_(buckets_of(step, step.grid.coordinates_of(program_.rank).pipeline)),
        gathered_(buckets_.size()),
        shards_(buckets_.size()) {
    whole_.resize(program_.buffers.size(), false);
    const WholeBuffers parameters(program_, BufferRole::parameter);
    for (std::size_t k = 0; k < buckets_.size(); ++k) {
      const std::vector<BufferIndex> whole = parameters.of(buckets_[k]);
      for (std::size_t e = 0; e < whole.size(); ++e) {
        whole_[whole[e]] = true;
        place_of_[whole[e]] = {k, e};
      }
      for (BufferIndex b = 0; b < program_.buffers.size(); ++b)
        if (const Buffer& buffer = program_.buffers[b];
            buffer.role == BufferRole::parameter && buffer.shard_of == buckets_[k].index)
          shards_[k] = b;
    }
  }

  RankProgram run() {
    for (std::size_t i = 0; i < program_.ops.size(); ++i)
      if (is_model_compute(program_.ops[i].id.kind())) visit(i);
    program_ = insert_ops(std::move(program_), std::move(gathers_));
    whole_.resize(program_.buffers.size(), false);
    return drop_buffers(std::move(program_), whole_);
  }

 private:
  struct Place {
    std::size_t bucket = 0, entry = 0;
  };
  /// A complete bucket while consecutive ops use it.
  struct Gathered {
    std::vector<BufferIndex> members;  ///< parallel to entries
    std::size_t last_row = 0;
  };

  bool is_whole(BufferIndex b) const { return b < whole_.size() && whole_[b]; }

  void visit(std::size_t op) {
    std::vector<std::size_t> used;
    for (const BufferUse& use : program_.ops[op].uses)
      if (is_whole(use.buffer)) used.push_back(place_of_.at(use.buffer).bucket);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    if (used.empty()) return;  // for example attention's core: it belongs to its block's row
    if (used != row_) {
      row_ = used;
      row_begins_.push_back(op);
    }
    const std::size_t row = row_begins_.size() - 1;
    for (const std::size_t k : used) {
      if (!gathered_[k] || gathered_[k]->last_row + 1 < row) gather(k, op);
      gathered_[k]->last_row = row;
    }
    for (BufferUse& use : program_.ops[op].uses)
      if (is_whole(use.buffer)) {
        const Place at = place_of_.at(use.buffer);
        use.buffer = gathered_[at.bucket]->members[at.entry];
      }
  }

  void gather(std::size_t k, std::size_t op) {
    const Bucket& bucket = buckets_[k];
    const OpFields f = program_.ops[op].id.fields();
    Gathered& gathered = gathered_[k].emplace();
    for (const BucketEntry& entry : bucket.entries) {
      const ParameterSpec& spec = step_.model.parameters[entry.parameter];
      gathered.members.push_back(program_.add({spec.name, BufferRole::parameter, MemoryClass::parameters,
                                               step_.model.type, spec.shape, false, entry.parameter, f.micro_batch}));
    }
    const BufferIndex base = add_base(
        program_, bucket, name_of_base("parameters", bucket, ":" + to_token(program_.ops[op].id)), gathered.members);
    // Outside the blocks the head may use its own bucket and the tied embedding's.
    const bool second =
        step_.model.spec.tied && bucket.entries.front().parameter == step_.model.segments.front().parameters.front();
    const Segment segment = f.block < 0 ? f.segment : Segment::whole;
    // One row ahead, so that it overlaps with that row.
    const std::size_t ahead = row_begins_[row_begins_.size() > 1 ? row_begins_.size() - 2 : 0];
    gathers_.push_back({ahead, collective({OpKind::all_gather, Purpose::zero_parameter, f.chunk, f.micro_batch, f.block,
                                           segment, phase_of(f.kind) + (second ? phases : 0)},
                                          {{shards_[k], Access::read}, {base, Access::write}})});
  }

  RankProgram program_;
  const StepProgram& step_;
  std::vector<Bucket> buckets_;
  std::vector<std::optional<Gathered>> gathered_;  ///< by bucket
  std::vector<BufferIndex> shards_;                ///< by bucket
  std::vector<bool> whole_;                        ///< by buffer: parameters as created by expand, to be replaced
  std::map<BufferIndex, Place> place_of_;
  std::vector<std::size_t> row_, row_begins_;  ///< the buckets used by the current row of ops; where each row begins
  std::vector<Insertion> gathers_;
};

}  // namespace

RankProgram shard_gradients(RankProgram program, const StepProgram& step) {
  if (step.zero() == 0) return program;
  return GradientSharding(std::move(program), step).run();
}

RankProgram gather_parameters(RankProgram program, const StepProgram& step) {
  if (step.zero() != 3) return program;
  return ParameterGathering(std::move(program), step).run();
}

}  // namespace rankscope
