// Shared results when plans of one scenario are folded one after another: tables that FoldedPlan fills, so that
// nothing is computed twice. For this folder's own files.
//
// Plans may differ in what a search sets: data, tensor, pipeline, virtual stages, schedule, stages, micro-batches,
// ZeRO, recomputation, sequence parallelism. One thread's; schedules are shared.
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

/// What data ranks with shards exchange of a chunk for one micro-batch, in seconds.
struct Sharding {
  double gather = 0, reduce = 0;  ///< with ZeRO-3 and ZeRO-2: of all its parameters, and of all their gradients
  double last_reduce = 0;         ///< of the part whose gradients come last
  double shard_bytes = 0;         ///< of this rank's part of the gradients, which every micro-batch adds to
};

/// Seconds of one chunk and micro-batch.
struct ChunkSeconds : BlockSeconds {
  double ahead = 0;           ///< of what is computed and exchanged again, what needs no gradient to be there
  double repeated_flops = 0;  ///< by recomputation
  Sharding sharding;
};

/// What a stage's rank does once a step, when its last backward has ended.
struct StageEnd {
  double reduce = 0;  ///< its gradients, if nothing covers it
  double update = 0;
  double gather = 0;  ///< updated parameters, of shards
};
struct StepEnd {
  std::vector<StageEnd> stages;
  double embedding = 0;  ///< the sum of a tied matrix' gradients
};

/// Segments in front of a chunk's blocks, its blocks, and segments behind.
using Parts = std::array<int, 3>;

/// Which segments the chunks have.
struct Split {
  std::vector<int> first_segment;  ///< [chunk], and one behind
  std::vector<Parts> parts;        ///< [chunk]
};

/// How blocks are computed again.
using Recomputation = std::pair<Recompute, int>;  ///< plan.recompute, recompute_blocks

/// A rank's model, and what has been found of its segments and chunks.
struct ModelTables {
  Model model;
  std::array<std::optional<SegmentSeconds>, segment_count> segments;     ///< by kind: blocks are alike
  std::map<std::tuple<Recomputation, Parts, int>, ChunkSeconds> chunks;  ///< by their tensor group's place on its node
  std::map<std::pair<Recomputation, Parts>, ChunkBytes> bytes;
};

/// Tensor, data and pipeline ranks.
using GridKey = std::array<int, 3>;
/// Whose stages have the same chunks: tensor ranks, stages, chunks of each, the stage of each chunk (empty: cyclic)
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
  /// Of the plan before, which differs from the next one seldom in more than what it shards.
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
