// A folded plan: one rank of each stage, chunks in its order, and the time of one chunk. For this folder's own
// files.
#pragma once
#include <vector>

#include "engine/predict/fold/fold_memo.hpp"

namespace rankscope {

/// The scenario and the memo must outlive it. Throws std::invalid_argument for a plan that cannot be folded.
class FoldedPlan {
 public:
  FoldedPlan(const Scenario& scenario, FoldMemo& memo);

  int chunks() const { return schedule.shape.chunks(); }
  int stage_of(int chunk) const { return schedule.stage_of_chunk[chunk]; }
  /// Segments [begin, end) of a chunk.
  int begin_of(int chunk) const { return split.first_segment[chunk]; }
  int end_of(int chunk) const { return split.first_segment[chunk + 1]; }
  /// The group of a stage's first rank.
  std::vector<int> group(int stage, GroupKind kind) const { return grid.group_of(grid.rank_of({0, 0, stage}), kind); }
  /// Bytes of a tied embedding's gradients, summed over the first and the last stage; 0 if that is one stage.
  double embedding_bytes() const;
  /// A rank's share of the activations between blocks.
  double own_stream_bytes() const;
  /// The gradients of a chunk that a rank's own update uses.
  double gradient_elements(int chunk) const;
  /// Groups of a chunk's blocks that are recomputed together, and the part of their inputs that a rank keeps.
  int repeated_groups(int chunk) const;
  double checkpoint_bytes(int chunk) const;
  /// With ZeRO: each data rank updates a shard.
  bool shards() const { return scenario.plan.zero > 0 && grid.data > 1; }

  /// [chunk]. Chunks with the same number of blocks are equal, except for segments before or after the blocks, and for
  /// the positions of their ranks.
  std::vector<ChunkSeconds> chunk_seconds();
  /// Of segments [begin, end), a complete chunk or a complete block, on a stage, without the exchanges of shards.
  ChunkSeconds seconds_of(int begin, int end, int stage);
  /// Of a message from one stage to another.
  double message(int from, int to);
  /// [stage].
  const std::vector<StageParameters>& parameters();
  const StepEnd& step_end();
  /// [stage].
  std::vector<StageMemory> memory();
  std::vector<MemoryLevel> memory_levels(int stage);

  /// Calls visit(segment, again) for segments [begin, end), a complete chunk or block; `again`: the segment is
  /// recomputed before its backward.
  template <class Visit>
  void for_each_segment(int begin, int end, Visit visit) const {
    const Blocks blocks = blocks_of(begin, end);
    for (int i = begin; i < end; ++i) {
      const SegmentSpec& segment = model.segments[i];
      visit(segment, is_repeated(segment, blocks));
    }
  }
  /// Calls visit(exchange, bytes) for each exchange of a segment's outputs among tensor ranks.
  template <class Visit>
  void for_each_exchange(const SegmentSpec& segment, Visit visit) const {
    for (const Exchange& exchange : model.exchanges)
      for (const TensorSpec& output : segment.outputs)
        if (output.name == exchange.from) {
          visit(exchange, exchange.purpose == Purpose::loss ? words_bytes() : stream_bytes());
          break;
        }
  }
  /// Whether the rows that this exchange gathered are gathered again for the weights' gradients.
  bool is_gathered_again(const Exchange& exchange) const;

  const Scenario& scenario;
  const ClusterSpec& cluster;
  FoldMemo& memo;
  ModelTables& tables;
  const Model& model;
  RankGrid grid;
  const FoldedSchedule& schedule;
  const Split& split;

 private:
  struct Blocks {
    int first = 0, last = -1;  ///< of the segments; without blocks `first` is beyond the model's last block
  };
  Blocks blocks_of(int begin, int end) const;
  bool is_repeated(const SegmentSpec& segment, const Blocks& blocks) const;
  const SegmentSeconds& segment(const SegmentSpec& segment);
  double collective(OpKind kind, const std::vector<int>& members, double bytes) const;
  double stream_bytes() const;  ///< of the activations between blocks, all of a tensor group's together
  double words_bytes() const;
  StageLedger ledger();
  Recomputation recomputation() const { return {scenario.plan.recompute, scenario.plan.recompute_blocks}; }
  StagesKey stages_key() const;
  StageEnd end_of_stage(int stage, const StageParameters& own) const;
  const Sharding& sharding(int chunk);
  double message_seconds(int from, int to) const;

  std::map<std::pair<int, int>, double>& messages_;  ///< the memo's
};

}  // namespace rankscope
