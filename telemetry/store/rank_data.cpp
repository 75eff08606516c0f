#include "telemetry/store/rank_data.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "engine/op/contains.hpp"

namespace rankscope {
namespace {

auto key_of(const StoredPhase& p) {
  return std::tuple(p.phase.op, p.obtained, p.phase.phase, p.phase.begin_ns, p.phase.chunk, p.phase.from, p.phase.to,
                    p.phase.end_ns, p.phase.bytes);
}
bool phase_before(const StoredPhase& a, const StoredPhase& b) { return key_of(a) < key_of(b); }
bool phase_same(const StoredPhase& a, const StoredPhase& b) { return key_of(a) == key_of(b); }

std::vector<TimeRange> union_of(const std::vector<Gap>& gaps) {  // gaps are by begin
  std::vector<TimeRange> ranges;
  for (const Gap& gap : gaps) {
    if (gap.end_ns <= gap.begin_ns) continue;
    if (!ranges.empty() && gap.begin_ns <= ranges.back().end_ns) {
      ranges.back().end_ns = std::max(ranges.back().end_ns, gap.end_ns);
    } else {
      ranges.push_back({gap.begin_ns, gap.end_ns});
    }
  }
  return ranges;
}

}  // namespace

void StepTimes::add(const StepTimes& other, std::int64_t by) {
  if (other.first_compute_ns != INT64_MAX) first_compute_ns = std::min(first_compute_ns, other.first_compute_ns + by);
  first_ns = std::min(first_ns, other.first_ns + by);
  last_end_ns = std::max(last_end_ns, other.last_end_ns + by);
}

bool RankData::add(std::span<const Span> spans, Obtained obtained) {
  const auto way = static_cast<std::size_t>(obtained);
  bool changed = false;
  StepTimes times;
  for (const Span& span : spans) {
    if (span.end_ns < span.begin_ns || span.active_ns < span.begin_ns || span.active_ns > span.end_ns) continue;
    const Lane lane = span.op.lane();
    auto& column = lanes_[way][static_cast<std::size_t>(lane)];
    if (!column) column = std::make_unique<LaneColumn>(LaneKey{rank_, lane, obtained});
    if (!column->add(span)) continue;
    changed = true;
    if (is_compute(lane)) times.first_compute_ns = std::min(times.first_compute_ns, span.begin_ns);
    times.first_ns = std::min(times.first_ns, span.begin_ns);
    times.last_end_ns = std::max(times.last_end_ns, span.end_ns);
  }
  if (!changed) return false;
  steps_[way].edit(spans.front().step).add(times, 0);
  view_.reset();
  return true;
}

void RankData::outline(const EncodedMessage::StepExtent& step, Obtained obtained) {
  const StepTimes times{step.first_compute_ns, step.first_ns, step.last_end_ns};
  steps_[static_cast<std::size_t>(obtained)].edit(step.step).add(times, 0);
  view_.reset();
}

void RankData::count(std::int64_t events) {
  outlined_ += events;
  view_.reset();
}

bool RankData::add(const MemorySample& sample, Obtained obtained) {
  auto& column = memory_[static_cast<std::size_t>(obtained)];
  if (!column) column = std::make_unique<MemoryColumn>();
  column->add(sample);
  view_.reset();
  return true;
}

bool RankData::add(std::span<const PhaseSpan> phases, Obtained obtained) {
  StepPhases& stored = phases_.edit(phases.front().step);
  auto rows = stored.rows ? (stored.epoch == phase_epoch_ ? stored.rows
                                                          : std::make_shared<std::vector<StoredPhase>>(*stored.rows))
                          : std::make_shared<std::vector<StoredPhase>>();
  const std::size_t before = rows->size();
  for (const PhaseSpan& phase : phases) rows->push_back({obtained, phase});
  const auto fresh = rows->begin() + static_cast<std::ptrdiff_t>(before);
  std::sort(fresh, rows->end(), phase_before);
  std::inplace_merge(rows->begin(), fresh, rows->end(), phase_before);
  rows->erase(std::unique(rows->begin(), rows->end(), phase_same), rows->end());
  const bool changed = rows->size() != before;
  phase_count_ += static_cast<std::int64_t>(rows->size()) - static_cast<std::int64_t>(before);
  stored = {std::move(rows), phase_epoch_};
  if (changed) view_.reset();
  return changed;
}

bool RankData::add(const StepSummary& summary) {
  auto& slot = summaries_.edit(summary.step);
  if (slot && *slot == summary) return false;
  if (slot) spans_dropped_ -= slot->spans_dropped;
  slot = std::make_shared<const StepSummary>(summary);
  spans_dropped_ += summary.spans_dropped;
  view_.reset();
  return true;
}

bool RankData::add(const Gap& gap) {
  if (contains(gaps_, gap)) return false;
  const bool numbered = gap.first_sequence != 0;
  // A gap may be reported again as it grows: the larger one replaces the smaller.
  if (numbered) {
    const auto covers = [](const Gap& a, const Gap& b) {
      return b.first_sequence != 0 && a.first_sequence <= b.first_sequence && b.last_sequence <= a.last_sequence;
    };
    for (const Gap& known : gaps_)
      if (covers(known, gap)) return false;
    std::erase_if(gaps_, [&](const Gap& known) { return covers(gap, known); });
  }
  gaps_.push_back(gap);
  view_.reset();
  return true;
}

bool RankData::add(const ClockRecord& record) {
  if (clock_ && (record.at_ns < clock_->at_ns || record == *clock_)) return false;
  clock_ = record;
  view_.reset();
  return true;
}

bool RankData::add(const ProgramRecord& record, std::uint64_t sequence) {
  if (program_ && (sequence < program_sequence_ || record == *program_)) return false;
  program_ = std::make_shared<const ProgramRecord>(record);
  program_sequence_ = sequence;
  facts_.reset();
  if (is_facts(record.text)) try {
      facts_ = std::make_shared<const StepFacts>(parse_facts(record.text));
    } catch (const std::invalid_argument&) {  // then its ops are shown without names
    }
  view_.reset();
  return true;
}

bool RankData::received(std::uint64_t sequence) {
  sequences_.insert(sequence);
  // A gap becomes visible only if this number helps to fill it.
  const bool visible = std::any_of(gaps_.begin(), gaps_.end(), [&](const Gap& gap) {
    return gap.first_sequence <= sequence && sequence <= gap.last_sequence;
  });
  if (visible) view_.reset();
  return visible;
}

std::vector<Gap> RankData::open_gaps() const {
  std::vector<Gap> open;
  for (const Gap& gap : gaps_)
    if (gap.first_sequence == 0 || !sequences_.contains({gap.first_sequence, gap.last_sequence})) open.push_back(gap);
  std::sort(open.begin(), open.end(), [](const Gap& a, const Gap& b) {
    return std::tie(a.begin_ns, a.end_ns, a.first_sequence, a.events) <
           std::tie(b.begin_ns, b.end_ns, b.first_sequence, b.events);
  });
  return open;
}

std::int64_t RankData::lost_events(const std::vector<Gap>& open) const {
  // Rows that a rank dropped before numbering are counted in its summaries, and perhaps also in gaps without numbers.
  std::int64_t numbered = 0, unnumbered = 0;
  for (const Gap& gap : open) (gap.first_sequence == 0 ? unnumbered : numbered) += gap.events;
  return numbered + std::max(unnumbered, spans_dropped_);
}

void RankData::fold(FoldedSteps& into, const std::function<void(const StepSummary&)>& visit) {
  const std::int64_t offset = clock_ ? clock_->offset_ns : 0;
  summaries_.erase_blocks_before(into.before, [&](std::uint32_t, const std::shared_ptr<const StepSummary>& summary) {
    into.totals.add(*summary, offset);
    visit(*summary);
  });
  for (std::size_t way = 0; way < obtained_count; ++way) {
    const std::int64_t by = static_cast<Obtained>(way) == Obtained::measured ? offset : 0;
    steps_[way].erase_blocks_before(
        into.before, [&](std::uint32_t step, const StepTimes& times) { into.times[way].edit(step).add(times, by); });
  }
  view_.reset();
}

void RankData::fold_late(FoldedSteps& into, const StepSummary& summary) {
  into.totals.add(summary, clock_ ? clock_->offset_ns : 0);
  spans_dropped_ += summary.spans_dropped;
  view_.reset();
}

std::shared_ptr<const RankView> RankData::view() {
  if (view_) return view_;
  auto view = std::make_shared<RankView>();
  view->program = program_;
  view->facts = facts_;
  view->clock = clock_;
  view->summaries = summaries_.share();
  view->phases = phases_.share();
  ++phase_epoch_;
  view->events = phase_count_ + outlined_;
  for (std::size_t way = 0; way < obtained_count; ++way) {
    view->steps[way] = steps_[way].share();
    if (memory_[way]) {
      view->memory[way] = memory_[way]->view();
      view->events += view->memory[way]->count;
    }
    for (std::size_t lane = 0; lane < lane_slots; ++lane)
      if (lanes_[way][lane]) {
        view->lanes[way][lane] = lanes_[way][lane]->view();
        view->events += view->lanes[way][lane]->count;
      }
  }
  view->gaps = open_gaps();
  view->unknown = union_of(view->gaps);
  view->lost = lost_events(view->gaps);
  if (evicted_) {
    view->evicted = evicted_->events;
    view->gaps.push_back(*evicted_);
    std::rotate(view->gaps.begin(), view->gaps.end() - 1, view->gaps.end());
  }
  view_ = std::move(view);
  return view_;
}

std::int64_t RankData::late_count() const {
  std::int64_t late = 0;
  for (const auto& lanes : lanes_)
    for (const auto& lane : lanes) late += lane ? lane->late_count() : 0;
  return late;
}

std::int64_t RankData::bytes() const {
  std::int64_t bytes = phase_count_ * static_cast<std::int64_t>(sizeof(StoredPhase));
  for (const auto& memory : memory_) bytes += memory ? memory->bytes() : 0;
  for (const auto& lanes : lanes_)
    for (const auto& lane : lanes) bytes += lane ? lane->bytes() : 0;
  return bytes;
}

std::int64_t RankData::oldest_end_ns() const {
  std::int64_t oldest = INT64_MAX;
  for (const auto& memory : memory_)
    if (memory) oldest = std::min(oldest, memory->oldest_end_ns());
  for (const auto& lanes : lanes_)
    for (const auto& lane : lanes)
      if (lane) oldest = std::min(oldest, lane->oldest_end_ns());
  return oldest;
}

void RankData::evict_oldest() {
  const std::int64_t oldest = oldest_end_ns();
  if (oldest == INT64_MAX) return;
  view_.reset();
  const auto note = [&](std::int64_t begin, std::int64_t end, std::int64_t events) {
    if (!evicted_) evicted_ = Gap{rank_, begin, end, 0, 0, 0};
    evicted_->begin_ns = std::min(evicted_->begin_ns, begin);
    evicted_->end_ns = std::max(evicted_->end_ns, end);
    evicted_->events += events;
  };
  for (const auto& memory : memory_)
    if (memory && memory->oldest_end_ns() == oldest) {
      const MemoryColumn::Evicted gone = memory->evict_oldest();
      return note(gone.begin_ns, gone.end_ns, gone.count);
    }
  for (const auto& lanes : lanes_)
    for (const auto& lane : lanes)
      if (lane && lane->oldest_end_ns() == oldest) {
        const LaneColumn::Evicted gone = lane->evict_oldest();
        phases_.erase_blocks_before(gone.greatest_step, [&](std::uint32_t, const StepPhases& phases) {
          phase_count_ -= static_cast<std::int64_t>(phases.rows ? phases.rows->size() : 0);
        });
        return note(gone.begin_ns, gone.end_ns, gone.count);
      }
}

}  // namespace rankscope
