// The times of the passes and messages of a folded plan, before anything is laid out. For this folder's own files.
#pragma once
#include <vector>

#include "engine/predict/fold/folded_plan.hpp"

namespace rankscope {

/// A pass's seconds by cause.
struct PassSeconds {
  double compute = 0, recompute = 0;
  double exchange = 0;  ///< of tensor ranks
  double adding = 0;    ///< of a micro-batch's gradients to a shard's sum
  double exposed = 0;   ///< of the exchanges of data ranks with shards: the part beyond compute
  double copying = 0;   ///< between device and host, the part that does not overlap with compute
  double own() const { return compute + recompute + exchange + adding; }
  double sum() const { return own() + exposed + copying; }
};

class FoldedCosts {
 public:
  explicit FoldedCosts(FoldedPlan& plan);

  /// The times of a chunk's forward, backward or half of it. `is_first`: for the step's first micro-batch.
  PassSeconds parts(OpKind kind, int chunk, bool is_first) const;
  double seconds(const Pass& pass) const { return seconds_[slot(pass.op_kind(), pass.chunk, pass.micro_batch == 0)]; }
  double seconds(OpKind kind, int chunk, bool is_first) const {
    return seconds_[slot(kind, static_cast<std::size_t>(chunk), is_first)];
  }
  /// The time of a pass's message: a forward sends to the next chunk, a gradient to the one before; 0 within a stage.
  double message(bool forward, int chunk) const { return (forward ? to_next_ : to_before_)[chunk]; }
  const ChunkSeconds& chunk(int c) const { return chunks_[c]; }
  int chunks() const { return static_cast<int>(chunks_.size()); }
  /// The part of a stage's gradient reduction that does not overlap with its last backward.
  double exposed_reduction(int stage) const;
  /// The part of the gather of a stage's updated parameters that does not overlap with the next step's forwards.
  double exposed_gather(int stage) const;
  /// Sets the same times for all stages, and for all messages, instead of those of the plan's chunks.
  void replace(const PassTimes& of_a_stage);
  /// Multiplies the time of a chunk's compute.
  void slow_down(int chunk, double factor);

 private:
  static std::size_t slot(OpKind kind, std::size_t chunk, bool is_first) {
    return (chunk * 4 + static_cast<std::size_t>(kind)) * 2 + is_first;
  }
  void fill(int chunk);
  /// The exposed copying of a pass that computes for `own` seconds.
  double copying(OpKind kind, int chunk, bool is_first, double own) const;
  /// The exposed part of a collective over a stage's parameters, bucket by bucket during compute: at least one bucket.
  double uncovered(double whole, int stage, double bytes_per_parameter, double compute) const;

  FoldedPlan& plan_;
  std::vector<ChunkSeconds> chunks_;
  std::vector<double> seconds_;              ///< [chunk][kind][whether it is the first]
  std::vector<double> to_next_, to_before_;  ///< [chunk]
};

/// The step's seconds if stages end their last pass at `end`.
double step_seconds(FoldedPlan& plan, const FoldedCosts& costs, const std::vector<double>& end);

/// The earliest time at which each stage can end its last pass: its own work, the wait for its first pass's input, what
/// must still return from the later stages; and the round trips of micro-batches, some of which wait
/// for others because of the first chunk's limit of micro-batches in flight.
///
/// Why a third method besides the two layouts: a search bounds thousands of plans in the time that it takes to fold a
/// few. A test (tests/engine/predict/search/search_test.cpp) allows no bound above the folded step, and 5 % below it on
/// average.
std::vector<double> earliest_ends(FoldedPlan& plan, const FoldedCosts& costs);

}  // namespace rankscope
