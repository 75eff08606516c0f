// Why a stretch of a compute lane was idle: the chain of ops that the next op waited for, followed backwards in time
// over all ranks. For this folder's own files.
#pragma once
#include <vector>

#include "engine/explain/analyse/step_analysis.hpp"
#include "engine/explain/analyse/step_index.hpp"

namespace rankscope::analysis {

/// What happened on the chain during a part of an idle stretch.
enum class PieceKind : std::uint8_t {
  own_transfer,   ///< this rank moved bytes
  peer_transfer,  ///< ranks waited for moved bytes
  peer_compute,   ///< a rank waited for computed
  own_overhead,   ///< nothing: this rank could have begun
  peer_overhead,  ///< nothing: a rank waited for could have
  own_unknown,    ///< data are missing
  peer_unknown,   ///< we know that a peer was waited for, but not why it was late
};
struct Piece {
  std::int64_t begin_ns = 0, end_ns = 0;
  PieceKind kind = PieceKind::own_unknown;
  Purpose purpose = Purpose::none;
  std::int32_t rank = -1;  ///< whose op it is
  OpId op;
};

/// The pieces of [begin, end), in order, gapless, none empty. `next` is the span that could not start (its begin may be
/// after `end`); none for the end of the step, which the rank reaches when `last`, the span that ends it, has ended:
/// until its own last message or collective is through it talks, and only then does it wait for `last`.
std::vector<Piece> explain_idle(const StepIndex& index, int rank, TimeRange idle, SpanAt next, SpanAt last);

}  // namespace rankscope::analysis
