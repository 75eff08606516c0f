// Spans joined to the ops of a linked step: the order of ops, and which ops communicated. For this folder's own files.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/explain/analyse/step_analysis.hpp"
#include "engine/step/step.hpp"
#include "telemetry/event/event.hpp"
#include "telemetry/event/time_range.hpp"

namespace rankscope::analysis {

using SpanAt = std::int32_t;  ///< index into StepIndex::spans()
inline constexpr SpanAt none = -1;

/// Places of a rank's ops in its order by their ids.
using OpPlaces = std::unordered_map<OpId, std::int32_t>;

/// The op that a span waited for: of all its dependencies, the one that ended last.
struct Holder {
  SpanAt span = none;    ///< none if there is no such op, or it is unknown
  bool missing = false;  ///< a span is missing that may have been later
};

class StepIndex {
 public:
  /// Keeps the spans of step `number` and of the steps beside it (Step::steps_apart). `linked` and the programs must
  /// outlive it.
  StepIndex(const Step& linked, const std::vector<Span>& spans, std::uint32_t number,
            std::optional<Planned> planned = {});

  /// By rank, each rank's by begin.
  const std::vector<Span>& spans() const { return spans_; }
  const Span& operator[](SpanAt at) const { return spans_[at]; }
  std::uint32_t step() const { return step_; }
  const Step& linked() const { return linked_; }
  /// Empty of an imported run.
  const std::optional<Planned>& planned() const { return planned_; }
  int ranks() const { return static_cast<int>(linked_.ranks()); }
  bool serves(int rank) const { return linked_.serves[rank]; }
  std::int32_t ops(int rank) const { return static_cast<std::int32_t>(linked_.ids_of(rank).size()); }

  /// The op's place in its rank's order; -1 if the step does not have it.
  std::int32_t op_index(SpanAt at) const { return op_of_[at]; }
  SpanAt find(int rank, std::int32_t op, std::int64_t step) const;
  /// Compute-lane spans of a rank by begin.
  const std::vector<SpanAt>& compute(int rank) const { return compute_[rank]; }
  /// Spans of a rank off the compute lane by begin: messages, collectives, copies, a server's updates.
  const std::vector<SpanAt>& beside(int rank) const { return beside_[rank]; }
  /// The span before it on its lane.
  SpanAt lane_previous(SpanAt at) const { return previous_[at]; }

  Holder holder_of(SpanAt at) const;
  /// The last to arrive of a communication's other members; none if no other member's span is available.
  SpanAt last_to_arrive(SpanAt communication) const;
  /// Whether the rank is a member of this message or collective.
  bool takes_part(int rank, SpanAt communication) const;
  /// When its bytes began to move: not before its last member arrived, if known.
  std::int64_t active_ns(SpanAt at) const;

  /// Ops of this step without a span: on one rank's compute lane with program positions within (after, before), and in
  /// total.
  bool misses_compute(int rank, std::int32_t after, std::int32_t before) const;
  std::int64_t missing() const { return missing_; }

 private:
  /// The last and the second to last of the members to arrive, since the result is never the rank itself.
  struct Latest {
    SpanAt last = none, before = none;
  };
  using Meeting = std::pair<ExchangeIndex, std::uint32_t>;  ///< the exchange and its step

  ExchangeIndex exchange_of(SpanAt at) const;
  void take_spans(const std::vector<Span>& spans);
  void share_places();
  void note_meetings();

  const Step& linked_;
  std::optional<Planned> planned_;
  std::uint32_t step_;
  std::vector<Span> spans_;
  std::vector<std::int32_t> op_of_;
  std::vector<SpanAt> previous_;
  std::vector<OpPlaces> places_;                            ///< once for all ranks that have the same ids
  std::vector<std::size_t> places_of_;                      ///< [rank]: into places_
  int apart_;                                               ///< of the steps kept on either side of this one
  std::vector<std::vector<std::vector<SpanAt>>> span_of_;   ///< [rank][step from the first one kept][op]
  std::vector<std::vector<SpanAt>> compute_, beside_;       ///< [rank]
  std::vector<std::vector<std::int32_t>> missing_compute_;  ///< [rank]: places, ascending
  std::map<Meeting, Latest> meetings_;
  std::int64_t missing_ = 0;
};

}  // namespace rankscope::analysis
