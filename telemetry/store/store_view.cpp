#include "telemetry/store/store_view.hpp"

#include <algorithm>
#include <mutex>
#include <tuple>

#include "telemetry/store/lane_query.hpp"

namespace rankscope {
namespace {

Span moved(Span span, std::int64_t by) {
  span.begin_ns += by;
  span.active_ns += by;
  span.end_ns += by;
  return span;
}
std::optional<Span> moved(std::optional<Span> span, std::int64_t by) {
  if (span) *span = moved(*span, by);
  return span;
}
TimeRange moved(TimeRange range, std::int64_t by) { return {range.begin_ns + by, range.end_ns + by}; }
template <class Timed>
void move(Timed& what, std::int64_t by) {
  what.begin_ns += by;
  what.end_ns += by;
}

// The shift of a rank's stamps of that kind onto the corrected time line. Emulated and simulated times were computed
// for all ranks on one time line.
std::int64_t correction(const RankView& rank, Obtained obtained) {
  return obtained == Obtained::measured && rank.clock ? rank.clock->offset_ns : 0;
}

void clamp(std::span<PixelShare> pixels) {
  for (PixelShare& pixel : pixels) {
    float total = pixel.waiting;
    for (const float share : pixel.busy) total += share;
    if (total <= 1) continue;
    for (float& share : pixel.busy) share /= total;
    pixel.waiting /= total;
  }
}

// Adds to `covered` (one number per column) the share of each column that a range covers.
void cover(TimeRange what, TimeRange range, std::vector<float>& covered) {
  const double scale = static_cast<double>(covered.size()) / static_cast<double>(range.length());
  const std::int64_t begin = std::max(what.begin_ns, range.begin_ns), end = std::min(what.end_ns, range.end_ns);
  if (end <= begin) return;
  const double from = static_cast<double>(begin - range.begin_ns) * scale;
  const double to = static_cast<double>(end - range.begin_ns) * scale;
  for (auto p = static_cast<std::size_t>(from); p < covered.size() && static_cast<double>(p) < to; ++p) {
    const double low = std::max(from, static_cast<double>(p)), high = std::min(to, static_cast<double>(p + 1));
    covered[p] += static_cast<float>(high - low);
  }
}

class View final : public StoreView {
 public:
  explicit View(StoreContent content) : content_(std::move(content)) {
    for (const auto& [rank, data] : content_.ranks) {
      events_ += data->events;
      lost_ += data->lost;
      evicted_ += data->evicted;
      for (std::size_t lane = 0; lane < lane_slots; ++lane)
        for (std::size_t way = 0; way < obtained_count; ++way)
          if (data->lanes[way][lane]) lanes_.push_back({rank, static_cast<Lane>(lane), static_cast<Obtained>(way)});
    }
  }

  const Hello* hello() const override { return content_.hello.get(); }
  const ProgramRecord* program(int rank) const override {
    const RankView* data = find_rank(rank);
    return data ? data->program.get() : nullptr;
  }
  const StepFacts* facts(int rank) const override {
    const RankView* data = find_rank(rank);
    return data ? data->facts.get() : nullptr;
  }
  std::vector<ClockRecord> clocks() const override {
    std::vector<ClockRecord> clocks;
    for (const auto& [rank, data] : content_.ranks)
      if (data->clock) clocks.push_back(*data->clock);
    return clocks;
  }
  std::vector<End> ends() const override { return content_.ends; }
  std::vector<LaneKey> lanes() const override { return lanes_; }
  std::int64_t event_count() const override { return events_; }
  std::int64_t evicted_count() const override { return evicted_; }
  std::int64_t dropped_count() const override { return lost_; }
  std::uint64_t revision() const override { return content_.revision; }

  TimeRange extent(Obtained obtained) const override {
    TimeRange extent{INT64_MAX, INT64_MIN};
    for (const auto& [rank, data] : content_.ranks)
      for (const auto& lane : data->lanes[static_cast<std::size_t>(obtained)])
        if (lane) {
          const std::int64_t by = correction(*data, obtained);
          extent.begin_ns = std::min(extent.begin_ns, lane->chunks.front().first_begin_ns + by);
          extent.end_ns = std::max(extent.end_ns, lane->chunks.back().reach_ns + by);
        }
    return extent.begin_ns > extent.end_ns ? TimeRange{} : extent;
  }

  std::vector<std::uint32_t> steps(Obtained obtained) const override {
    std::vector<std::uint32_t> steps;
    for (const auto& [first, last] : content_.steps[static_cast<std::size_t>(obtained)].intervals())
      for (std::uint64_t step = first; step <= last; ++step) steps.push_back(static_cast<std::uint32_t>(step));
    return steps;
  }

  std::optional<TimeRange> step_range(Obtained obtained, std::uint32_t step) const override {
    const StepTimes own = step_times(obtained, step);
    if (own.last_end_ns == INT64_MIN) return std::nullopt;
    // A step without compute ops (all lost, say) begins with its first op.
    const std::int64_t begin = own.first_compute_ns != INT64_MAX ? own.first_compute_ns : own.first_ns;
    const StepTimes next = step == UINT32_MAX ? StepTimes{} : step_times(obtained, step + 1);
    const std::int64_t end = next.first_compute_ns != INT64_MAX ? next.first_compute_ns : own.last_end_ns;
    return TimeRange{begin, std::max(begin, end)};
  }

  void shares(LaneKey lane, TimeRange range, std::span<PixelShare> pixels) const override {
    std::fill(pixels.begin(), pixels.end(), PixelShare{});
    const RankView* data = find_rank(lane.rank);
    if (!data || range.empty() || pixels.empty()) return;
    const TimeRange stamped = moved(range, -correction(*data, lane.obtained));
    const LaneView* spans = find_lane(lane);
    if (spans) {
      add_shares(*spans, stamped, pixels);
      clamp(pixels);
    }
    // A prediction is always complete; a run lacks what was not received.
    if (lane.obtained == Obtained::simulated) return;
    std::vector<float> covered;
    const auto add_unknown = [&](const std::vector<TimeRange>& ranges) {
      auto gap = std::partition_point(ranges.begin(), ranges.end(),
                                      [&](const TimeRange& g) { return g.end_ns <= stamped.begin_ns; });
      for (; gap != ranges.end() && gap->begin_ns < stamped.end_ns; ++gap) {
        if (covered.empty()) covered.resize(pixels.size());
        cover(*gap, stamped, covered);
      }
    };
    add_unknown(data->unknown);
    if (const RankView* anyone = find_rank(-1)) add_unknown(anyone->unknown);
    if (spans && spans->forgotten_until_ns > stamped.begin_ns) add_unknown({{INT64_MIN, spans->forgotten_until_ns}});
    for (std::size_t p = 0; p < covered.size(); ++p) {
      float known = pixels[p].waiting;
      for (const float share : pixels[p].busy) known += share;
      pixels[p].unknown = std::max(0.0f, std::min(covered[p], 1 - known));
    }
  }

  std::vector<Span> spans(LaneKey lane, TimeRange range, std::int64_t least_ns, std::size_t limit) const override {
    const LaneView* view = find_lane(lane);
    if (!view) return {};
    const std::int64_t by = correction(*find_rank(lane.rank), lane.obtained);
    std::vector<Span> found = spans_in(*view, moved(range, -by), least_ns, limit);
    if (by)
      for (Span& span : found) span = moved(span, by);
    return found;
  }
  std::optional<Span> span_at(LaneKey lane, std::int64_t time_ns) const override {
    return in_lane(lane, [&](const LaneView& view, std::int64_t by) { return rankscope::span_at(view, time_ns - by); });
  }
  std::optional<Span> next_span(LaneKey lane, const Span& from) const override {
    return in_lane(lane,
                   [&](const LaneView& view, std::int64_t by) { return rankscope::next_span(view, moved(from, -by)); });
  }
  std::optional<Span> previous_span(LaneKey lane, const Span& from) const override {
    return in_lane(
        lane, [&](const LaneView& view, std::int64_t by) { return rankscope::previous_span(view, moved(from, -by)); });
  }
  std::optional<Span> find(int rank, std::uint32_t step, OpId op, Obtained obtained) const override {
    return in_lane({rank, op.lane(), obtained},
                   [&](const LaneView& view, std::int64_t) { return find_span(view, step, op); });
  }

  std::vector<Span> step_spans(Obtained obtained, std::uint32_t step) const override {
    std::vector<Span> found;
    for (const auto& [rank, data] : content_.ranks) {
      const auto way = static_cast<std::size_t>(obtained);
      if (!is_folded(step) && !data->steps[way].find(step)) continue;
      const auto first = static_cast<std::ptrdiff_t>(found.size());
      const auto earlier = [](const Span& a, const Span& b) {
        return std::tie(a.begin_ns, a.end_ns, a.op) < std::tie(b.begin_ns, b.end_ns, b.op);
      };
      for (const auto& lane : data->lanes[way]) {
        if (!lane) continue;
        const auto of_lane = static_cast<std::ptrdiff_t>(found.size());
        collect_step(*lane, step, found);
        // A lane is in order of begin, and nearly always in this order, too.
        if (!std::is_sorted(found.begin() + of_lane, found.end(), earlier))
          std::sort(found.begin() + of_lane, found.end(), earlier);
        std::inplace_merge(found.begin() + first, found.begin() + of_lane, found.end(), earlier);
      }
      if (const std::int64_t by = correction(*data, obtained))
        std::for_each(found.begin() + first, found.end(), [&](Span& span) { span = moved(span, by); });
    }
    return found;
  }

  std::vector<MemorySample> memory(int rank, Obtained obtained, TimeRange range, int buckets) const override {
    const RankView* data = find_rank(rank);
    if (!data || !data->memory[static_cast<std::size_t>(obtained)]) return {};
    const std::int64_t by = correction(*data, obtained);
    auto found = memory_in(*data->memory[static_cast<std::size_t>(obtained)], moved(range, -by), buckets);
    for (MemorySample& sample : found) sample.time_ns += by;
    return found;
  }

  std::vector<PhaseSpan> phases(int rank, std::uint32_t step, OpId op) const override {
    std::vector<PhaseSpan> found;
    const RankView* data = find_rank(rank);
    const StepPhases* stored = data ? data->phases.find(step) : nullptr;
    if (!stored || !stored->rows) return found;
    // Sorted by op, then by origin: the first kind that exists.
    auto row = std::lower_bound(stored->rows->begin(), stored->rows->end(), op,
                                [](const StoredPhase& p, OpId requested) { return p.phase.op < requested; });
    if (row == stored->rows->end()) return found;
    const Obtained obtained = row->obtained;
    const std::int64_t by = correction(*data, obtained);
    for (; row != stored->rows->end() && row->phase.op == op && row->obtained == obtained; ++row) {
      found.push_back(row->phase);
      move(found.back(), by);
    }
    return found;
  }

  std::vector<Gap> gaps(int rank) const override {
    const RankView* data = find_rank(rank);
    if (!data) return {};
    std::vector<Gap> gaps = data->gaps;
    for (Gap& gap : gaps) move(gap, correction(*data, Obtained::measured));
    return gaps;
  }

  std::vector<StepSummary> summaries(int rank) const override {
    std::vector<StepSummary> found;
    const RankView* data = find_rank(rank);
    if (!data) return found;
    const std::int64_t by = correction(*data, Obtained::measured);
    data->summaries.for_each([&](std::uint32_t, const std::shared_ptr<const StepSummary>& summary) {
      found.push_back(*summary);
      move(found.back(), by);
    });
    return found;
  }
  std::optional<StepSummary> summary(int rank, std::uint32_t step) const override {
    const RankView* data = find_rank(rank);
    const auto* found = data ? data->summaries.find(step) : nullptr;
    if (!found) return std::nullopt;
    StepSummary summary = **found;
    move(summary, correction(*data, Obtained::measured));
    return summary;
  }

  std::shared_ptr<const RunTotals> totals() const override {
    std::call_once(totals_made_, [this] {
      auto totals = std::make_shared<RunTotals>(content_.folded ? content_.folded->totals : RunTotals{});
      for (const auto& [rank, data] : content_.ranks)
        data->summaries.for_each([&](std::uint32_t, const std::shared_ptr<const StepSummary>& summary) {
          totals->add(*summary, correction(*data, Obtained::measured));
        });
      totals_ = std::move(totals);
    });
    return totals_;
  }

 private:
  bool is_folded(std::uint32_t step) const { return content_.folded && step < content_.folded->before; }
  const RankView* find_rank(std::int32_t rank) const {
    const auto found = content_.ranks.find(rank);
    return found == content_.ranks.end() ? nullptr : found->second.get();
  }
  const LaneView* find_lane(LaneKey lane) const {
    const RankView* data = find_rank(lane.rank);
    return data ? data->lanes[static_cast<std::size_t>(lane.obtained)][static_cast<std::size_t>(lane.lane)].get()
                : nullptr;
  }
  /// The result of `find(view, correction)`, on the corrected time line.
  template <class Find>
  std::optional<Span> in_lane(LaneKey lane, Find find) const {
    const LaneView* view = find_lane(lane);
    if (!view) return std::nullopt;
    const std::int64_t by = correction(*find_rank(lane.rank), lane.obtained);
    return moved(find(*view, by), by);
  }
  StepTimes step_times(Obtained obtained, std::uint32_t step) const {
    const auto way = static_cast<std::size_t>(obtained);
    StepTimes all;
    if (is_folded(step))
      if (const StepTimes* times = content_.folded->times[way].find(step)) all = *times;
    for (const auto& [rank, data] : content_.ranks)  // of a folded step, what arrived later
      if (const StepTimes* times = data->steps[way].find(step)) all.add(*times, correction(*data, obtained));
    return all;
  }

  StoreContent content_;
  std::vector<LaneKey> lanes_;
  std::int64_t events_ = 0, lost_ = 0, evicted_ = 0;
  mutable std::once_flag totals_made_;
  mutable std::shared_ptr<const RunTotals> totals_;
};

}  // namespace

std::shared_ptr<const StoreView> make_view(StoreContent content) {
  return std::make_shared<const View>(std::move(content));
}

}  // namespace rankscope
