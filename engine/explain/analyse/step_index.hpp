// Spans joined to the ops of the programs: the order of ops, and which ops communicated. For this folder's own
// files.
#pragma once
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "engine/plan/program/program.hpp"
#include "telemetry/event/event.hpp"
#include "telemetry/event/time_range.hpp"

namespace rankscope::analysis {

using SpanAt = std::int32_t;  ///< index into StepIndex::spans()
inline constexpr SpanAt none = -1;

/// Places of ops in a program by their ids.
using OpPlaces = std::unordered_map<OpId, std::int32_t>;

/// The op that a span waited for: of all its dependencies, the one that ended last.
struct Holder {
  SpanAt span = none;    ///< none if there is no such op, or it is unknown
  bool missing = false;  ///< a span is missing that may have been later
};

class StepIndex {
 public:
  /// Keeps the spans of `step` and of the steps beside it (steps_apart), of the programs' ranks. The programs must
  /// outlive it.
  StepIndex(const std::vector<RankProgram>& programs, const RankGrid& grid, const std::vector<Span>& spans,
            std::uint32_t step);

  /// By rank, each rank's by begin.
  const std::vector<Span>& spans() const { return spans_; }
  const Span& operator[](SpanAt at) const { return spans_[at]; }
  std::uint32_t step() const { return step_; }
  int ranks() const { return static_cast<int>(programs_.size()); }
  const RankGrid& grid() const { return grid_; }
  const std::vector<RankProgram>& programs() const { return programs_; }
  const RankProgram& program(int rank) const { return programs_[rank]; }

  /// The op's place in its program; -1 if the program does not have it.
  std::int32_t op_index(SpanAt at) const { return op_of_[at]; }
  SpanAt find(int rank, std::int32_t op, std::int64_t step) const;
  SpanAt find(int rank, OpId op, std::int64_t step) const;
  /// Compute-lane spans of a rank by begin.
  const std::vector<SpanAt>& compute(int rank) const { return compute_[rank]; }
  /// Spans of a rank off the compute lane by begin: messages, collectives, copies, a server's updates.
  const std::vector<SpanAt>& beside(int rank) const { return beside_[rank]; }
  /// The span before it on its lane.
  SpanAt lane_previous(SpanAt at) const { return previous_[at]; }

  Holder holder_of(SpanAt at) const;
  /// The last to arrive of a communication's other members; none if no other member's span is available.
  SpanAt last_to_arrive(SpanAt communication) const;
  /// The first rank of the group of that kind that contains `rank`.
  int first_of_group(int rank, GroupKind kind) const;
  /// When its bytes began to move: not before its last member arrived, if known.
  std::int64_t active_ns(SpanAt at) const;

  /// Ops of this step without a span: on one rank's compute lane with program positions within (after, before), and in
  /// total.
  bool misses_compute(int rank, std::int32_t after, std::int32_t before) const;
  std::int64_t missing() const { return missing_; }

 private:
  /// The last and the second to last of a collective's members to arrive, since the result is never the rank itself.
  struct Latest {
    SpanAt last = none, before = none;
  };
  using Exchange = std::tuple<int, OpId, std::uint32_t>;  ///< the group's first rank, the op, the step

  void take_spans(const std::vector<Span>& spans);
  void share_places();
  void find_groups();
  void note_meetings();

  const std::vector<RankProgram>& programs_;
  RankGrid grid_;
  std::uint32_t step_;
  std::vector<Span> spans_;
  std::vector<std::int32_t> op_of_;
  std::vector<SpanAt> previous_;
  std::vector<OpPlaces> places_;                            ///< once for all ranks whose programs have the same ids
  std::vector<std::size_t> places_of_;                      ///< [rank]: into places_
  int apart_;                                               ///< of the steps kept on either side of this one
  std::vector<std::vector<std::vector<SpanAt>>> span_of_;   ///< [rank][step from the first one kept][op]
  std::vector<std::vector<SpanAt>> compute_, beside_;       ///< [rank]
  std::vector<std::vector<std::int32_t>> missing_compute_;  ///< [rank]: program positions, ascending
  std::map<GroupKind, std::vector<int>> first_of_group_;    ///< of kinds that have collectives: [rank]
  std::map<Exchange, Latest> exchanges_;
  std::int64_t missing_ = 0;
};

}  // namespace rankscope::analysis
