// Shared results when plans of one scenario are folded one after another: tables that FoldedPlan fills, so that
// nothing is computed twice. For this folder's own files.
//
// Plans may differ in keys that a search sets: data, tensor, pipeline, virtual stages, schedule, stages, micro-batches,
// ZeRO, recomputation, sequence parallelism. For one thread; schedules are shared.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/plan/mesh/rank_grid.hpp"
#include "engine/plan/model/model.hpp"
#include "engine/predict/cost/folded_schedule.hpp"
#include "engine/predict/cost/kernels.hpp"
#include "engine/predict/cost/stage_ledger.hpp"
#include "engine/predict/fold/folded.hpp"

namespace rankscope {

/// Exchanges of data ranks with shards for one chunk and micro-batch, in seconds.
struct Sharding {
  double gather = 0, reduce = 0;  ///< with ZeRO-3 and ZeRO-2: of all its parameters, and of all their gradients
  double last_reduce = 0;         ///< of the part whose gradients are complete last
  double shard_bytes = 0;         ///< of this rank's part of the gradients, which every micro-batch adds to
};

/// Seconds of one chunk and micro-batch.
struct ChunkSeconds : BlockSeconds {
  double ahead = 0;           ///< the part of recomputation and repeated exchanges that needs no gradient
  double repeated_flops = 0;  ///< by recomputation
  Sharding sharding;
};

/// The work of a stage's rank once a step, after its last backward.
struct StageEnd {
  double reduce = 0;  ///< its gradients, without overlap
  double update = 0;
  double gather = 0;  ///< updated parameters, of shards
};
struct StepEnd {
  std::vector<StageEnd> stages;
  double embedding = 0;  ///< the sum of a tied matrix' gradients
};

/// Segments before a chunk's blocks, its blocks, and segments after them.
using Parts = std::array<int, 3>;

/// Which segments the chunks have.
struct Split {
  std::vector<int> first_segment;  ///< [chunk], and the end
  std::vector<Parts> parts;        ///< [chunk]
};

/// How blocks are recomputed.
using Recomputation = std::pair<Recompute, int>;  ///< plan.recompute, recompute_blocks

/// A rank's model, and the known times of its segments and chunks.
struct ModelTables {
  Model model;
  std::array<std::optional<SegmentSeconds>, segment_count> segments;     ///< by kind: blocks are identical
  std::map<std::tuple<Recomputation, Parts, int>, ChunkSeconds> chunks;  ///< by their tensor group's place on its node
  std::map<std::pair<Recomputation, Parts>, ChunkBytes> bytes;
};

/// Tensor, data and pipeline ranks.
using GridKey = std::array<int, 3>;
/// If these are equal, so are chunks: tensor ranks, stages, chunks of each, the stage of each chunk (empty: cyclic)
/// and how chunks are cut.
using StagesKey = std::tuple<int, int, int, std::vector<int>, std::string>;

struct FoldMemo {
  explicit FoldMemo(Schedules& shared) : schedules(shared) {}

  Schedules& schedules;
  std::optional<MeasuredOps> measured;
  std::map<std::tuple<int, int, bool>, ModelTables> models;   ///< tensor ranks, samples, sequence parallelism
  std::map<std::tuple<int, int, std::string>, Split> splits;  ///< tensor ranks, chunks, stages
  std::map<StagesKey, std::vector<StageParameters>> parameters;
  std::map<std::tuple<StagesKey, int, int>, StepEnd> ends;            ///< data ranks, ZeRO
  std::map<std::tuple<GridKey, int, Parts, int>, Sharding> sharding;  ///< stage, ZeRO
  /// Of the previous plan, from which the next one usually differs only in what it shards.
  struct {
    const ModelTables* tables = nullptr;
    const FoldedSchedule* schedule = nullptr;
    const Split* split = nullptr;
    Recomputation recomputation;
    std::vector<StagePeaks> stages;
  } peaks;
  /// Between two stages; by samples and sequence parallelism.
  std::map<std::tuple<GridKey, int, bool>, std::map<std::pair<int, int>, double>> messages;
};

}  // namespace rankscope
