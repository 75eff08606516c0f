// The store's data of one rank: the writer's side, and the snapshot that it returns.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "telemetry/event/run_totals.hpp"
#include "telemetry/event/sequence_set.hpp"
#include "telemetry/store/lane_column.hpp"
#include "telemetry/store/memory_column.hpp"

namespace rankscope {

inline constexpr std::size_t obtained_count = 3;

/// When a step ran: on one rank as stamped, or on several on the corrected time line.
struct StepTimes {
  std::int64_t first_compute_ns = INT64_MAX, first_ns = INT64_MAX, last_end_ns = INT64_MIN;
  /// Merges another rank's data of the same step, shifted by `by`.
  void add(const StepTimes& other, std::int64_t by);
};

/// Data of old steps: all ranks together, on the corrected time line with the clock fit of that time.
struct FoldedSteps {
  std::uint32_t before = 0;  ///< of all steps below this
  RunTotals totals;
  std::array<StepMap<StepTimes>, obtained_count> times;
};

struct StoredPhase {
  Obtained obtained = Obtained::measured;
  PhaseSpan phase;
};

/// Phases of one step, sorted; shared with snapshots, cloned before a change.
struct StepPhases {
  std::shared_ptr<std::vector<StoredPhase>> rows;
  std::uint64_t epoch = 0;
};

struct RankView {
  std::shared_ptr<const ProgramRecord> program;
  std::shared_ptr<const StepFacts> facts;  ///< if the program record has facts
  std::optional<ClockRecord> clock;
  StepMap<std::shared_ptr<const StepSummary>> summaries;
  StepMap<StepPhases> phases;
  std::array<StepMap<StepTimes>, obtained_count> steps;
  std::array<std::shared_ptr<const MemoryView>, obtained_count> memory;
  std::array<std::array<std::shared_ptr<const LaneView>, lane_slots>, obtained_count> lanes;
  std::vector<Gap> gaps;           ///< not filled yet, in order of begin
  std::vector<TimeRange> unknown;  ///< the gaps' union, in order of begin
  std::int64_t events = 0, lost = 0, evicted = 0;
};

class RankData {
 public:
  explicit RankData(std::int32_t rank) : rank_(rank) {}

  /// Each returns whether it changed anything.
  /// Spans of one step. Spans that end before they begin are ignored.
  bool add(std::span<const Span> spans, Obtained obtained);
  bool add(const MemorySample& sample, Obtained obtained);
  bool add(std::span<const PhaseSpan> phases, Obtained obtained);  ///< of one step
  bool add(const StepSummary& summary);
  bool add(const Gap& gap);
  bool add(const ClockRecord& record);
  bool add(const ProgramRecord& record, std::uint64_t sequence);
  bool received(std::uint64_t sequence);
  /// When a step ran whose spans are not stored.
  void outline(const EncodedMessage::StepExtent& step, Obtained obtained);
  /// Events that arrived and are not stored.
  void count(std::int64_t events);

  /// Moves the data of the steps before `into.before` (a multiple of StepMap's blocks) to `into`; calls
  /// `visit(summary)` for each summary as well.
  void fold(FoldedSteps& into, const std::function<void(const StepSummary&)>& visit);
  /// The same for a summary that arrives after its step was folded.
  void fold_late(FoldedSteps& into, const StepSummary& summary);

  std::shared_ptr<const RankView> view();
  /// Late spans that the next view merges.
  std::int64_t late_count() const;
  std::int64_t bytes() const;
  /// End of the oldest detail that can be evicted; INT64_MAX if there is none.
  std::int64_t oldest_end_ns() const;
  void evict_oldest();

 private:
  std::vector<Gap> open_gaps() const;
  std::int64_t lost_events(const std::vector<Gap>& open) const;

  std::int32_t rank_;
  std::shared_ptr<const ProgramRecord> program_;
  std::shared_ptr<const StepFacts> facts_;
  std::uint64_t program_sequence_ = 0;
  std::optional<ClockRecord> clock_;
  StepMap<std::shared_ptr<const StepSummary>> summaries_;
  std::int64_t spans_dropped_ = 0;  // as the rank's summaries report
  StepMap<StepPhases> phases_;
  std::uint64_t phase_epoch_ = 1;
  std::int64_t phase_count_ = 0, outlined_ = 0;
  std::array<StepMap<StepTimes>, obtained_count> steps_;
  std::array<std::unique_ptr<MemoryColumn>, obtained_count> memory_;
  std::array<std::array<std::unique_ptr<LaneColumn>, lane_slots>, obtained_count> lanes_;
  std::vector<Gap> gaps_;
  std::optional<Gap> evicted_;
  SequenceSet sequences_;
  std::shared_ptr<const RankView> view_;
};

}  // namespace rankscope
