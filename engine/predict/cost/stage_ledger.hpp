// The memory of a rank of each stage, from pass to pass of its order. For this folder's own files.
#pragma once
#include <vector>

#include "engine/predict/cost/folded_schedule.hpp"
#include "engine/predict/cost/ledger.hpp"

namespace rankscope {

/// Of one chunk and micro-batch.
struct ChunkBytes {
  double kept = 0;     ///< from forward to backward
  double on_host = 0;  ///< the same in the host's memory
  double again = 0;    ///< recomputed for the backward, minus bytes freed by then: at its peak
  double halves = 0;   ///< from the input gradient to the weight gradient
  double transient = 0;
  double largest_part = 0;  ///< elements of the largest unit that ZeRO-3 gathers
};
ChunkBytes bytes_of_chunk(const Scenario& scenario, const Model& model, int begin, int end);

/// Whether tensor ranks gather the input of blocks that are recomputed.
bool gathers_checkpoints(const ClusterSpec& cluster, const Model& model);
/// What a rank keeps of one group of blocks that are recomputed together: its input, or a share of it.
double checkpoint_bytes_of_group(const ClusterSpec& cluster, const Model& model);

/// A rank's part of the activations between blocks.
double stream_bytes(const Model& model);

/// The peak of the memory that changes with a stage's passes, bytes: by class, and at the maximum of the sum.
struct StagePeaks {
  double activations = 0, buffers = 0;
  double activations_then = 0, buffers_then = 0, gradients_then = 0;
  double most() const { return activations_then + buffers_then + gradients_then; }
};

class StageLedger {
 public:
  /// `of_chunk`: [chunk]. Keeps references to all other arguments.
  StageLedger(const Scenario& scenario, const Model& model, const FoldedSchedule& schedule,
              const std::vector<StageParameters>& parameters, std::vector<ChunkBytes> of_chunk);

  /// [stage]. Independent of ZeRO's stage.
  std::vector<StagePeaks> peaks() const;
  std::vector<StageMemory> memory(const std::vector<StagePeaks>& peaks) const;
  std::vector<MemoryLevel> levels(int stage) const;

 private:
  struct Stage;
  Stage stage(int stage) const;
  double checkpoints_on_host(int stage) const;
  void to_host(Stage& bytes, const StageParameters& own, double bucket) const;
  template <class Look>
  void follow(int stage, Look look) const;
  const ChunkBytes& of(int chunk) const { return of_chunk_[chunk]; }
  int stage_of(int chunk) const { return schedule_.stage_of_chunk[chunk]; }
  double messages(int stage) const;
  double cast(int stage) const;
  double largest_part(int stage) const;

  const Scenario& scenario_;
  const Model& model_;
  const FoldedSchedule& schedule_;
  const std::vector<StageParameters>& parameters_;
  std::vector<ChunkBytes> of_chunk_;
};

}  // namespace rankscope
