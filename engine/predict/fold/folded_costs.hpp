// The times of the passes and messages of a folded plan, before anything is laid out. For this folder's own files.
#pragma once
#include <vector>

#include "engine/predict/fold/folded_plan.hpp"

namespace rankscope {

/// Where a pass's seconds go.
struct PassSeconds {
  double compute = 0, recompute = 0;
  double exchange = 0;  ///< of tensor ranks
  double adding = 0;    ///< of a micro-batch's gradients to a shard's sum
  double exposed = 0;   ///< of what data ranks with shards exchange beside it
  double copying = 0;   ///< between device and host, as far as compute does not cover it
  double own() const { return compute + recompute + exchange + adding; }
  double sum() const { return own() + exposed + copying; }
};

class FoldedCosts {
 public:
  explicit FoldedCosts(FoldedPlan& plan);

  /// Of a chunk's forward, backward or either half, for the step's first micro-batch or another.
  PassSeconds parts(OpKind kind, int chunk, bool is_first) const;
  double seconds(const Pass& pass) const { return seconds_[slot(pass.op_kind(), pass.chunk, pass.micro_batch == 0)]; }
  double seconds(OpKind kind, int chunk, bool is_first) const {
    return seconds_[slot(kind, static_cast<std::size_t>(chunk), is_first)];
  }
  /// Of what a pass sends: a forward to the next chunk, a gradient to the one before; 0 within a stage.
  double message(bool forward, int chunk) const {
    return (forward ? to_next_ : to_before_)[static_cast<std::size_t>(chunk)];
  }
  const ChunkSeconds& chunk(int c) const { return chunks_[static_cast<std::size_t>(c)]; }
  int chunks() const { return static_cast<int>(chunks_.size()); }
  /// What of a stage's reduction its last backward does not cover.
  double exposed_reduction(int stage) const;
  /// What of the gather of a stage's updated parameters the next step's forwards do not cover.
  double exposed_gather(int stage) const;
  /// All stages take equally long, and all messages, whatever the plan's chunks are.
  void replace(const PassTimes& of_a_stage);
  /// A chunk's compute takes so many times as long.
  void slow_down(int chunk, double factor);

 private:
  static std::size_t slot(OpKind kind, std::size_t chunk, bool is_first) {
    return (chunk * 4 + static_cast<std::size_t>(kind)) * 2 + is_first;
  }
  void fill(int chunk);
  /// Of a pass that computes for so long.
  double copying(OpKind kind, int chunk, bool is_first, double own) const;
  /// Of a collective over a stage's parameters, bucket by bucket beside compute: at least one bucket stands alone.
  double uncovered(double whole, int stage, double bytes_per_parameter, double compute) const;

  FoldedPlan& plan_;
  std::vector<ChunkSeconds> chunks_;
  std::vector<double> seconds_;              ///< [chunk][kind][whether it is the first]
  std::vector<double> to_next_, to_before_;  ///< [chunk]
};

/// The step's seconds where stages have ended their last pass at `end`.
double step_seconds(FoldedPlan& plan, const FoldedCosts& costs, const std::vector<double>& end);

/// The earliest that each stage can have ended its last pass: its own work, the wait for its first pass's input, what
/// must still come back from the stages behind it; and the rounds of micro-batches there and back that the first
/// chunk's limit of those in flight forces one after the other.
///
/// Why a third beside the two layouts: a search bounds thousands of plans in the time that it takes to fold a few. A
/// test (tests/engine/predict/search/search_test.cpp) allows no bound above the folded step, and 5 % below it on
/// average.
std::vector<double> earliest_ends(FoldedPlan& plan, const FoldedCosts& costs);

}  // namespace rankscope
