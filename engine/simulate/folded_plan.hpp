// A plan as it is folded: one rank of each stage, chunks in its order, and what one chunk takes. For this folder's own
// files.
#pragma once
#include <vector>

#include "engine/mesh/rank_grid.hpp"
#include "engine/model/model.hpp"
#include "engine/schedule/schedule.hpp"
#include "engine/simulate/folded.hpp"
#include "engine/simulate/measured.hpp"

namespace rankscope {

/// Seconds of one chunk and micro-batch.
struct ChunkSeconds : BlockSeconds {
  double ahead = 0;               ///< of what is computed and exchanged again, what needs no gradient to be there
  double gather = 0, reduce = 0;  ///< with ZeRO-3 and ZeRO-2: of all its parameters, and of all their gradients
  double last_reduce = 0;         ///< of the part whose gradients come last
  double repeated_flops = 0;      ///< by recomputation
  double shard_bytes = 0;         ///< of this rank's part of the gradients, which every micro-batch adds to
};

/// The scenario and the model must outlive it. Throws std::invalid_argument for a plan that cannot be folded.
class FoldedPlan {
 public:
  FoldedPlan(const Scenario& scenario, const Model& model);

  int chunks() const { return schedule.shape.chunks(); }
  int stage_of(int chunk) const { return schedule.stage_of_chunk[static_cast<std::size_t>(chunk)]; }
  /// Segments [begin, end) of a chunk.
  int begin_of(int chunk) const { return first_segment[static_cast<std::size_t>(chunk)]; }
  int end_of(int chunk) const { return first_segment[static_cast<std::size_t>(chunk) + 1]; }
  /// The group of a stage's first rank.
  std::vector<int> group(int stage, GroupKind kind) const { return grid.group_of(grid.rank_of({0, 0, stage}), kind); }
  double collective(OpKind kind, const std::vector<int>& members, double bytes) const;
  /// Of the activations between blocks, all of a tensor group's together; and what of these a rank holds.
  double stream_bytes() const;
  double own_stream_bytes() const;
  /// Of a tied embedding's gradients, summed over the first and the last stage; 0 where these are not two.
  double embedding_bytes() const;
  /// With ZeRO: data ranks have parts of what is updated.
  bool shards() const { return scenario.plan.zero > 0 && grid.data > 1; }

  /// Of segments [begin, end) on a stage.
  ChunkSeconds seconds_of(int begin, int end, int stage) const;
  /// Calls visit(segment, again) for segments [begin, end), which are all of a chunk or of a block: `again` where the
  /// segment is computed once more before its backward.
  template <class Visit>
  void for_each_segment(int begin, int end, Visit visit) const {
    const Blocks blocks = blocks_of(begin, end);
    for (int i = begin; i < end; ++i) {
      const SegmentSpec& segment = model.segments[static_cast<std::size_t>(i)];
      visit(segment, is_repeated(segment, blocks));
    }
  }
  /// Calls visit(exchange, bytes) for what tensor ranks exchange of a segment's outputs.
  template <class Visit>
  void for_each_exchange(const SegmentSpec& segment, Visit visit) const {
    for (const Exchange& exchange : model.exchanges)
      for (const TensorSpec& output : segment.outputs)
        if (output.name == exchange.from) {
          visit(exchange, exchange.purpose == Purpose::loss ? words_bytes() : stream_bytes());
          break;
        }
  }
  /// Whether the rows that this exchange gathered are gathered once more for the weights' gradients.
  bool is_gathered_again(const Exchange& exchange) const;

  const Scenario& scenario;
  const ClusterSpec& cluster;
  const Model& model;
  RankGrid grid;
  ChunkSchedule schedule;
  std::vector<int> first_segment;  ///< [chunk], and one behind
  MeasuredOps measured;

 private:
  struct Blocks {
    int first = 0, last = -1;  ///< that segments belong to; the first is beyond the model's where none does
  };
  Blocks blocks_of(int begin, int end) const;
  bool is_repeated(const SegmentSpec& segment, const Blocks& blocks) const;
  double words_bytes() const;
  void add_sharding(ChunkSeconds& sum, int begin, int end, int stage) const;
};

}  // namespace rankscope
