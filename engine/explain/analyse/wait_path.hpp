// Why a range of a compute lane was idle: the chain of ops that the next op waited for, followed backwards in time
// over all ranks. For this folder's own files.
#pragma once
#include <vector>

#include "engine/explain/analyse/step_analysis.hpp"
#include "engine/explain/analyse/step_index.hpp"

namespace rankscope::analysis {

/// The event on the chain during a part of an idle range.
enum class PieceKind : std::uint8_t {
  own_transfer,   ///< this rank moved bytes
  peer_transfer,  ///< other ranks of the chain moved bytes
  peer_compute,   ///< another rank of the chain computed
  own_overhead,   ///< nothing: this rank could have begun its op
  peer_overhead,  ///< nothing: another rank of the chain could have begun its op
  own_unknown,    ///< data are missing
  peer_unknown,   ///< the rank waited for a peer, but why the peer was late is unknown
};
struct Piece {
  std::int64_t begin_ns = 0, end_ns = 0;
  PieceKind kind = PieceKind::own_unknown;
  Purpose purpose = Purpose::none;
  std::int32_t rank = -1;  ///< of the op
  OpId op;
};

/// The pieces of [begin, end), in order, gapless, none empty. `next` is the span that could not start (its begin may be
/// after `end`); none for the end of the step, which the rank reaches when `last`, the span that ends it, has ended:
/// until the end of its own last message or collective it communicates, and only then it waits for `last`.
std::vector<Piece> explain_idle(const StepIndex& index, int rank, TimeRange idle, SpanAt next, SpanAt last);

}  // namespace rankscope::analysis
