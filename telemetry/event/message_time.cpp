#include "telemetry/event/message_time.hpp"

#include <algorithm>

namespace rankscope {
namespace {

struct Extent {
  std::optional<TimeRange> operator()(const Hello&) const { return std::nullopt; }
  std::optional<TimeRange> operator()(const ProgramRecord&) const { return std::nullopt; }
  std::optional<TimeRange> operator()(const End&) const { return std::nullopt; }
  std::optional<TimeRange> operator()(const ClockRecord& e) const { return TimeRange{e.at_ns, e.at_ns}; }
  std::optional<TimeRange> operator()(const StepSummary& e) const { return TimeRange{e.begin_ns, e.end_ns}; }
  std::optional<TimeRange> operator()(const Gap& e) const { return TimeRange{e.begin_ns, e.end_ns}; }
  std::optional<TimeRange> operator()(const SpanBatch& e) const {
    return over(e.spans, [](const Span& s) { return TimeRange{s.begin_ns, s.end_ns}; });
  }
  std::optional<TimeRange> operator()(const MemoryBatch& e) const {
    return over(e.samples, [](const MemorySample& s) { return TimeRange{s.time_ns, s.time_ns}; });
  }
  std::optional<TimeRange> operator()(const PhaseBatch& e) const {
    return over(e.phases, [](const PhaseSpan& p) { return TimeRange{p.begin_ns, p.end_ns}; });
  }
  template <class Rows, class Time>
  static std::optional<TimeRange> over(const Rows& rows, Time time) {
    if (rows.empty()) return std::nullopt;
    TimeRange range = time(rows.front());
    for (const auto& row : rows) {
      const TimeRange own = time(row);
      range = {std::min(range.begin_ns, own.begin_ns), std::max(range.end_ns, own.end_ns)};
    }
    return range;
  }
};

}  // namespace

std::optional<TimeRange> time_of(const Event& event) { return std::visit(Extent{}, event); }

std::int64_t rows_of(const Event& event) {
  if (const auto* batch = std::get_if<SpanBatch>(&event)) return static_cast<std::int64_t>(batch->spans.size());
  if (const auto* batch = std::get_if<MemoryBatch>(&event)) return static_cast<std::int64_t>(batch->samples.size());
  if (const auto* batch = std::get_if<PhaseBatch>(&event)) return static_cast<std::int64_t>(batch->phases.size());
  return 1;
}

}  // namespace rankscope
