// The identity of an op: its place in the program of a step. Costs, pointers and measurements are keyed by it.
//
// Ids are structural: made of the op's content, not from its creation time, so any rank's ids can be computed without
// building that rank's program, and the two ends of a message can name each other. Unique within one rank's program;
// the join key of an event is (session, program hash, step, rank, op id).
//
// Tokens, the text form of an id (identity only):
//   F:c2:m3:b5.qkv     forward of chunk 2, micro-batch 3, block 5's QKV segment     B, I, W, R: same form
//   F:c2:m3            the same, folded to its chunk
//   B:c3:m0:.head      a segment outside the blocks
//   SEND.pipeline_forward:c2:m3      chunk 2 sends micro-batch 3's activations onwards
//   RECV.pipeline_backward:c2:m3     chunk 2 receives micro-batch 3's gradient
//   ALLREDUCE.data_gradient:c2:i1    bucket 1 of chunk 2's gradients
//   OPT:c2:.update     LOAD:c0:m3
//   COPY.offload:c2:i1               bucket 1's gradients to the host, for OPT.offload:c2:.update:i1, whose parameters
//   COPY.offload:c2:.update:i1       are copied back by this op
// LOAD.alone  ALLTOALL.alone  CHECK       a collective alone: its input, the collective, the check of its result
//   B:l16:n7:i2        of an imported run: name 7 on lane 16, the third time in the step
#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/op/kind.hpp"

namespace rankscope {

/// The fields of an op id. -1 means "does not apply".
struct OpFields {
  OpKind kind = OpKind::forward;
  Purpose purpose = Purpose::none;
  int chunk = -1;        ///< pipeline stage × virtual stage, 0 … 4094
  int micro_batch = -1;  ///< within the step and data-parallel rank, 0 … 65534
  int block = -1;        ///< transformer or residual block, counted over the whole model, 0 … 2046
  Segment segment = Segment::whole;
  int index = -1;  ///< bucket, shard or repetition, 0 … 2046
  bool operator==(const OpFields&) const = default;
};

/// The fields of an op of an imported run, which no program of ours describes: what is known of it, and which of the
/// rank's ops of a step it is. Names, and lanes of communication, have the same numbers on all ranks (StepFacts), so
/// that a collective has the same id on every member here, too.
struct ObservedOp {
  OpKind kind = OpKind::compute;
  Purpose purpose = Purpose::none;  ///< of a communication, as far as it is known
  Lane lane = observed_lane(LaneUse::compute, 0);
  int name = 0;        ///< 0 … 1048575: into StepFacts::names
  int occurrence = 0;  ///< of that name on that lane in the step, 0 … 16777215
  bool operator==(const ObservedOp&) const = default;
};

class OpId {
 public:
  constexpr OpId() = default;
  constexpr explicit OpId(std::uint64_t value) : value_(value) {}
  /// Packs the fields; throws std::out_of_range when one does not fit.
  static OpId of(const OpFields& fields);
  static OpId of_observed(const ObservedOp& op);

  constexpr std::uint64_t value() const { return value_; }
  /// False for bit patterns that no fields pack to (say, from a damaged file).
  bool valid() const;
  /// Of an imported run: then fields() has only its kind and purpose.
  bool is_observed() const;
  ObservedOp observed() const;
  OpFields fields() const;
  OpKind kind() const { return fields().kind; }
  Lane lane() const;

  auto operator<=>(const OpId&) const = default;

 private:
  std::uint64_t value_ = ~std::uint64_t{0};
};

/// The id's token, such as "F:c2:m3:b5.qkv".
std::string to_token(OpId id);
/// Parses a token; nullopt, and one sentence in `error` if given, when it is invalid.
std::optional<OpId> parse_token(std::string_view token, std::string* error = nullptr);

/// The other end of a send or receive: SEND.pipeline_forward:c2:m3 matches RECV.pipeline_forward:c3:m3. Ids of other
/// kinds are their own counterpart (a collective has the same id on every member).
OpId counterpart(OpId id);
/// The id with segment and block dropped: the chunk-level op that a diagram shows.
OpId folded_to_chunk(OpId id);
/// The id without its segment, but with its block.
OpId folded_to_block(OpId id);

}  // namespace rankscope

template <>
struct std::hash<rankscope::OpId> {
  std::size_t operator()(rankscope::OpId id) const noexcept { return std::hash<std::uint64_t>{}(id.value()); }
};
