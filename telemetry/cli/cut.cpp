#include "telemetry/cli/cut.hpp"

namespace rankscope {

bool CutSink::overlaps(std::uint32_t step, TimeRange time, std::int64_t offset_ns) const {
  if (limits_.first_step && step < *limits_.first_step) return false;
  if (limits_.last_step && step > *limits_.last_step) return false;
  if (limits_.from_ns && time.end_ns + offset_ns < *limits_.from_ns) return false;
  return !limits_.to_ns || time.begin_ns + offset_ns < *limits_.to_ns;
}

bool CutSink::includes(const TraceMark& mark) const {
  if (!mark.step && (limits_.first_step || limits_.last_step)) return false;
  return overlaps(mark.step.value_or(0), mark.time, 0);
}

void CutSink::accept(const Message& message) {
  Message part = message;
  bool any = true;
  const auto by = [&](std::int32_t rank) { return offset_of(offsets_, rank, message.event); };
  if (auto* spans = std::get_if<SpanBatch>(&part.event)) {
    std::erase_if(spans->spans, [&](const Span& s) { return !overlaps(s.step, {s.begin_ns, s.end_ns}, by(s.rank)); });
    any = !spans->spans.empty();
  } else if (auto* memory = std::get_if<MemoryBatch>(&part.event)) {
    std::erase_if(memory->samples, [&](const MemorySample& s) {
      return !overlaps(s.step, {s.time_ns, s.time_ns}, by(s.rank));
    });
    any = !memory->samples.empty();
  } else if (auto* phases = std::get_if<PhaseBatch>(&part.event)) {
    std::erase_if(phases->phases, [&](const PhaseSpan& p) {
      return !overlaps(p.step, {p.begin_ns, p.end_ns}, by(p.rank));
    });
    any = !phases->phases.empty();
  } else if (const auto* summary = std::get_if<StepSummary>(&part.event)) {
    any = overlaps(summary->step, {summary->begin_ns, summary->end_ns}, by(summary->rank));
  } else if (const auto* gap = std::get_if<Gap>(&part.event)) {
    // A gap has no step; it is dropped only if its time is outside.
    any = (!limits_.from_ns || gap->end_ns + by(gap->rank) >= *limits_.from_ns) &&
          (!limits_.to_ns || gap->begin_ns + by(gap->rank) < *limits_.to_ns);
  }
  if (any) to_.accept(part);
}

}  // namespace rankscope
