// The columnar store of one run: every consumer (window, statistics, export) reads from here. No Qt.
//
// One thread feeds it through accept(), in any order of arrival (late, duplicated, unordered); any thread reads
// snapshots. The cost of reading depends on the number of pixels or returned items, not of events: each lane keeps a
// pyramid with the busy time per class, extended as events arrive.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/step/facts.hpp"
#include "telemetry/event/encoded.hpp"
#include "telemetry/event/run_totals.hpp"
#include "telemetry/event/time_range.hpp"

namespace rankscope {

/// The class of a rectangle, which selects its colour.
enum class SpanClass : std::uint8_t {
  forward,
  backward,
  weight_gradient,
  recompute,
  transfer,
  collective,
  optimizer,
  other
};
inline constexpr int span_class_count = 8;
SpanClass class_of(OpId op);

/// One row of the time line. Measured, emulated and simulated spans of a lane belong to separate rows.
struct LaneKey {
  std::int32_t rank = 0;
  Lane lane = Lane::compute;
  Obtained obtained = Obtained::measured;
  auto operator<=>(const LaneKey&) const = default;
};

/// One pixel column of a folded lane: shares of its time, sum at most 1; the rest is idle.
struct PixelShare {
  std::array<float, span_class_count> busy{};
  float waiting = 0;  ///< inside communication spans, before the peer arrived
  float unknown = 0;  ///< data that was produced but is missing
};

/// A consistent, immutable snapshot. Cheap to copy; outlives later additions.
///
/// Stamps are stored raw. All times that a view accepts and returns are on one corrected time line: those of measured
/// events are shifted by their rank's latest clock record (offset in clocks()), so callers must not correct them again.
class StoreView {
 public:
  virtual ~StoreView() = default;
  virtual const Hello* hello() const = 0;                    ///< null until it arrives
  virtual const ProgramRecord* program(int rank) const = 0;  ///< null until it arrives
  virtual const StepFacts* facts(int rank) const = 0;        ///< of an imported run; else null
  virtual std::vector<ClockRecord> clocks() const = 0;       ///< latest per rank
  virtual std::vector<End> ends() const = 0;                 ///< by rank
  virtual std::vector<LaneKey> lanes() const = 0;            ///< those with events, ordered
  virtual std::int64_t event_count() const = 0;              ///< spans, memory samples and phases stored or outlined
  virtual std::int64_t evicted_count() const = 0;            ///< detail events evicted for lack of space
  virtual std::int64_t dropped_count() const = 0;            ///< detail events known to be lost in transit
  virtual std::uint64_t revision() const = 0;                ///< views of one store with equal revisions are identical

  virtual TimeRange extent(Obtained obtained) const = 0;
  /// Steps with at least one span obtained in this way.
  virtual std::vector<std::uint32_t> steps(Obtained obtained) const = 0;
  /// From the step's first compute op on any rank to that of the next step, or to the last end of its own ops.
  virtual std::optional<TimeRange> step_range(Obtained obtained, std::uint32_t step) const = 0;

  /// Shares of the lane's time in `pixels.size()` equal columns of `range`. If spans of a lane overlap, their shares
  /// are scaled down to a sum of 1; unknown is the time covered by the rank's gaps and by no span.
  virtual void shares(LaneKey lane, TimeRange range, std::span<PixelShare> pixels) const = 0;
  /// Spans that overlap `range` and last at least `least_ns`, in order of begin, at most `limit`.
  virtual std::vector<Span> spans(LaneKey lane, TimeRange range, std::int64_t least_ns, std::size_t limit) const = 0;
  /// Of the spans that contain this time, the last to begin: the innermost if spans nest.
  virtual std::optional<Span> span_at(LaneKey lane, std::int64_t time_ns) const = 0;
  /// Neighbours in the lane, for stepping with the keyboard.
  virtual std::optional<Span> next_span(LaneKey lane, const Span& from) const = 0;
  virtual std::optional<Span> previous_span(LaneKey lane, const Span& from) const = 0;
  /// The span of that op, if it is stored.
  virtual std::optional<Span> find(int rank, std::uint32_t step, OpId op, Obtained obtained) const = 0;
  /// All spans of one step, ordered by rank and begin: the input of analyse.
  virtual std::vector<Span> step_spans(Obtained obtained, std::uint32_t step) const = 0;

  /// Memory of a rank over `range`: the sample valid when it begins (stamped before the range), if any, then at most
  /// two samples per bucket (least and greatest sum) for `buckets` buckets.
  virtual std::vector<MemorySample> memory(int rank, Obtained obtained, TimeRange range, int buckets) const = 0;
  /// By phase; measured ones if there are any, else emulated, else simulated ones.
  virtual std::vector<PhaseSpan> phases(int rank, std::uint32_t step, OpId op) const = 0;
  /// Gaps: lost or evicted detail that has not arrived since, in order of begin; rank -1: lost from an unknown rank.
  virtual std::vector<Gap> gaps(int rank) const = 0;
  /// By step. A store that folds (RunStore) has only those of the latest steps; totals() includes all.
  virtual std::vector<StepSummary> summaries(int rank) const = 0;
  virtual std::optional<StepSummary> summary(int rank, std::uint32_t step) const = 0;
  /// The totals of the summaries of all steps. The first call on a view adds up those that are not folded.
  virtual std::shared_ptr<const RunTotals> totals() const = 0;
};

/// Of two spans with the same rank, step, op and origin, the first to arrive is kept.
class RunStore : public EventSink {
 public:
  /// `keep_bytes`: if detail exceeds it, the oldest is evicted and becomes a gap; 0 keeps all. `keep_steps`: about this
  /// number of latest steps keep the summaries and times of each rank; earlier steps keep only what is merged over all
  /// ranks, a few bytes per rank and step; 0 keeps all.
  explicit RunStore(std::int64_t keep_bytes = 0, std::uint32_t keep_steps = 0);
  ~RunStore() override;
  /// Accepts messages of one session, that of the first message; others are counted and ignored.
  void accept(const Message& message) override;
  /// For a batch that is not stored: its events are counted and its steps have ranges, but none of its rows is stored.
  void accept_outline(const Envelope& from, Obtained obtained, std::span<const EncodedMessage::StepExtent> steps,
                      std::int64_t events);
  /// Any thread. The cost depends on the changes since the last call, not on the amount of data.
  std::shared_ptr<const StoreView> view() const;
  std::int64_t detail_bytes() const;  ///< memory of detail, without what only snapshots still hold

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope
