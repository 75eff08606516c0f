// A schedule in a compact form, for the memory ledger of a plan's stages and for folded plans: its passes' fields are
// read once, and facts about its order are kept for bounds.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"
#include "engine/plan/schedule/schedule.hpp"

namespace rankscope {

/// A chunk's op in four bytes: searches keep the orders of a thousand schedules.
struct Pass {
  std::uint32_t micro_batch : 16;
  std::uint32_t chunk : 13;
  std::uint32_t kind : 3;  ///< forward, backward, input or weight gradient
  OpKind op_kind() const { return static_cast<OpKind>(kind); }
  OpId id() const;
};

/// Number of passes of a chunk and kind, of the first micro-batch or of others.
struct PassCount {
  OpKind kind = OpKind::weight_gradient;
  int chunk = 0;
  bool is_first = false;
  int count = 0;
};

/// Of one stage's order.
struct StageOrder {
  std::vector<Pass> passes;
  int first_chunk = 0;   ///< of its first pass
  Pass last_backward{};  ///< whole, or either half
  /// The last pass whose result the previous stage needs (a whole backward or an input gradient), and passes after it.
  Pass last_gradient{};
  std::vector<PassCount> behind;
};

struct FoldedSchedule {
  PipelineShape shape;
  std::vector<int> stage_of_chunk;
  std::vector<StageOrder> stages;
  bool splits = false;  ///< backwards into halves
  /// Greatest number of micro-batches of the first chunk between their forward and their gradient; all if it
  /// does not process them in order.
  int in_flight = 1;
};

FoldedSchedule folded(const ChunkSchedule& schedule);

/// Schedules of plans, each made once. Threads share it; returned references remain valid.
class Schedules {
 public:
  const FoldedSchedule& of(const PlanSpec& plan);

 private:
  using Key = std::tuple<ScheduleKind, int, int, int, std::string>;  // kind, p, v, m, its order or passes' times
  std::mutex mutex_;
  std::map<Key, FoldedSchedule> made_;
};

}  // namespace rankscope
