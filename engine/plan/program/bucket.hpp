// Buckets: adjacent gradients that are reduced together. Without ZeRO they are PyTorch DDP's; with ZeRO they are
// also cut into the data group's shards, and the parameters have the same order and places.
#pragma once
#include <map>
#include <vector>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/program/program.hpp"

namespace rankscope {

/// One parameter's gradient in a bucket.
struct BucketEntry {
  int parameter = 0;
  std::int64_t at = 0;  ///< its first element in the bucket
  std::int64_t elements = 0;
};

struct Bucket {
  int index = 0;  ///< over the rank's buckets, in order of completion
  int chunk = 0;  ///< whose parameters they are: the first one that uses them
  std::vector<BucketEntry> entries;
  std::int64_t elements = 0;  ///< with padding, so that the data group can cut it into equal, aligned shards
  /// The first `summed` elements are of parameters that all tensor ranks have, with gradients summed over these ranks
  /// (Model::sums_gradient).
  std::int64_t summed = 0;
};

/// The parameters of a stage's chunks in the order in which a backward pass completes their gradients. A parameter used
/// twice (the tied embedding) is complete when its earlier segment has run.
std::vector<int> completion_order(const StepProgram& step, int stage);

/// The buckets of a stage's ranks. A bucket closes once it has reached its size (the first one at most 1 MiB, so that
/// reducing starts early; then plan.bucket_mib) and at the end of a chunk. In stage 3 of ZeRO, whose
/// gathers use the same buckets, each has one block's parameters, or the embedding's, or the head's, of any size. A
/// tied embedding is alone in its bucket if ZeRO has shards of it that are reduced further, or used alone. Gradients
/// that tensor ranks sum are adjacent: in the last bucket of each chunk, or in stage 3 at the front of a bucket.
std::vector<Bucket> buckets_of(const StepProgram& step, int stage);

/// Adds a buffer for the whole bucket, of the role, class and type of its `members` (parallel to entries), and makes
/// them views in it. Returns the buffer.
BufferIndex add_base(RankProgram& program, const Bucket& bucket, std::string name,
                     const std::vector<BufferIndex>& members);

/// All parameters in one bucket, of which parameter servers have equal shards.
Bucket server_bucket(const StepProgram& step);

/// Adds a view in the bucket's buffer `base`: one of `shards` equal parts.
BufferIndex view_shard(RankProgram& program, const Bucket& bucket, BufferIndex base, int shard, int shards,
                       std::string name);

/// Adds views for the pieces of the bucket's tensors that lie in `buffer`, one of `shards` equal parts of the bucket.
/// They are named by the prefix and the parameter.
void add_pieces(RankProgram& program, const StepProgram& step, const Bucket& bucket, BufferIndex buffer, int shard,
                int shards, const std::string& prefix);

/// A rank's whole buffers of its parameters or of its gradients, as created by expand: found once for all buckets.
class WholeBuffers {
 public:
  WholeBuffers(const RankProgram& program, BufferRole role);
  /// Parallel to the bucket's entries.
  std::vector<BufferIndex> of(const Bucket& bucket) const;

 private:
  std::map<int, BufferIndex> of_parameter_;
};

}  // namespace rankscope
