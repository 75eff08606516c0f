#include "engine/explain/analyse/step_index.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace rankscope::analysis {

namespace {

bool before_in_time(const Span& a, const Span& b) {
  if (a.begin_ns != b.begin_ns) return a.begin_ns < b.begin_ns;
  return a.step != b.step ? a.step < b.step : a.end_ns < b.end_ns;
}

}  // namespace

StepIndex::StepIndex(const Step& linked, const std::vector<Span>& spans, std::uint32_t number,
                     std::optional<Planned> planned)
    : linked_(linked), planned_(planned), step_(number), apart_(linked.steps_apart) {
  const std::size_t ranks = linked.ranks();
  span_of_.resize(ranks);
  compute_.resize(ranks);
  beside_.resize(ranks);
  missing_compute_.resize(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    span_of_[r].assign(static_cast<std::size_t>(2 * apart_ + 1), std::vector<SpanAt>(linked.ids_of(r).size(), none));
  take_spans(spans);
  share_places();

  op_of_.assign(spans_.size(), -1);
  previous_.assign(spans_.size(), none);
  std::array<SpanAt, lane_slots> last{};
  for (SpanAt at = 0; at < static_cast<SpanAt>(spans_.size()); ++at) {
    const Span& span = (*this)[at];
    const auto rank = static_cast<std::size_t>(span.rank);
    if (at == 0 || (*this)[at - 1].rank != span.rank) last.fill(none);
    const auto lane = static_cast<std::size_t>(span.op.lane());
    previous_[at] = last[lane];
    last[lane] = at;
    (is_compute(span.op.lane()) ? compute_ : beside_)[rank].push_back(at);
    const OpPlaces& places = places_[places_of_[rank]];
    const auto found = places.find(span.op);
    if (found == places.end()) continue;
    op_of_[at] = found->second;
    span_of_[rank][static_cast<std::int64_t>(span.step) - step_ + apart_][found->second] = at;
  }
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t i = 0; i < linked.ids_of(r).size(); ++i) {
      if (span_of_[r][apart_][i] != none) continue;
      ++missing_;
      if (is_compute(linked.ids_of(r)[i].lane())) missing_compute_[r].push_back(static_cast<std::int32_t>(i));
    }
  note_meetings();
}

// By rank first: simulated spans are already in order rank by rank, and a run's nearly so.
void StepIndex::take_spans(const std::vector<Span>& spans) {
  const auto is_kept = [&](const Span& span) {
    return span.rank >= 0 && span.rank < ranks() && span.end_ns >= span.begin_ns &&
           std::abs(static_cast<std::int64_t>(span.step) - step_) <= apart_;
  };
  std::vector<std::size_t> begin(linked_.ranks() + 1, 0);  // of each rank's
  for (const Span& span : spans)
    if (is_kept(span)) ++begin[span.rank + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  spans_.resize(begin.back());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (const Span& span : spans)
    if (is_kept(span)) spans_[next[span.rank]++] = span;
  for (std::size_t r = 0; r < linked_.ranks(); ++r) {
    const auto first = spans_.begin() + static_cast<std::ptrdiff_t>(begin[r]);
    const auto end = spans_.begin() + static_cast<std::ptrdiff_t>(begin[r + 1]);
    if (!std::is_sorted(first, end, before_in_time)) std::stable_sort(first, end, before_in_time);
  }
}

void StepIndex::share_places() {
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> known;  // ranks with their own table, by their ids' hash
  for (std::size_t r = 0; r < linked_.ranks(); ++r) {
    const std::span<const OpId> ids = linked_.ids_of(r);
    std::uint64_t hash = ids.size();
    for (const OpId id : ids) hash = (hash ^ id.value()) * 0x9E3779B97F4A7C15U;
    auto& equal_hash = known[hash];
    const auto same = std::find_if(equal_hash.begin(), equal_hash.end(),
                                   [&](std::size_t other) { return std::ranges::equal(linked_.ids_of(other), ids); });
    if (same != equal_hash.end()) {
      places_of_.push_back(places_of_[*same]);
      continue;
    }
    equal_hash.push_back(r);
    places_of_.push_back(places_.size());
    OpPlaces& places = places_.emplace_back();
    places.reserve(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) places.emplace(ids[i], static_cast<std::int32_t>(i));
  }
}

// Ranks are visited in ascending order, so of those that arrived together the first rank is reported.
void StepIndex::note_meetings() {
  const auto begin_of = [&](SpanAt at) { return (*this)[at].begin_ns; };
  for (SpanAt at = 0; at < static_cast<SpanAt>(spans_.size()); ++at) {
    const Span& span = (*this)[at];
    const ExchangeIndex exchange = exchange_of(at);
    if (exchange == nobody || find(span.rank, op_index(at), span.step) != at) continue;
    Latest& latest = meetings_[{exchange, span.step}];
    if (latest.last == none || begin_of(at) > begin_of(latest.last))
      latest = {at, latest.last};
    else if (latest.before == none || begin_of(at) > begin_of(latest.before))
      latest.before = at;
  }
}

ExchangeIndex StepIndex::exchange_of(SpanAt at) const {
  return op_index(at) < 0 ? nobody : linked_.exchange[linked_.first[(*this)[at].rank] + op_index(at)];
}

bool StepIndex::takes_part(int rank, SpanAt communication) const {
  const ExchangeIndex exchange = exchange_of(communication);
  return exchange != nobody && std::ranges::any_of(linked_.members[exchange], [&](Node member) {
           return member >= linked_.first[rank] && member < linked_.first[rank + 1];
         });
}

SpanAt StepIndex::find(int rank, std::int32_t op, std::int64_t step) const {
  const std::int64_t beside = step - step_ + apart_;
  if (rank < 0 || rank >= ranks() || op < 0 || beside < 0 || beside > 2 * apart_) return none;
  const auto& of_step = span_of_[rank][beside];
  return static_cast<std::size_t>(op) < of_step.size() ? of_step[op] : none;
}

Holder StepIndex::holder_of(SpanAt at) const {
  const Span& span = (*this)[at];
  Holder holder;
  const auto consider = [&](SpanAt before) {
    if (before == none) return;
    if (holder.span == none || (*this)[before].end_ns > (*this)[holder.span].end_ns) holder.span = before;
  };
  consider(lane_previous(at));
  if (op_index(at) < 0) return {holder.span, true};
  const Node first = linked_.first[span.rank], node = first + op_index(at);
  for (const Node before : linked_.after[node]) {
    const SpanAt found = find(span.rank, static_cast<std::int32_t>(before - first), span.step);
    consider(found);
    holder.missing |= found == none;
  }
  // The previous step may not be among the spans at all; then none of its spans counts as missing.
  for (const Node before : linked_.after_previous[node])
    consider(find(span.rank, static_cast<std::int32_t>(before - first), static_cast<std::int64_t>(span.step) - 1));
  return holder;
}

SpanAt StepIndex::last_to_arrive(SpanAt at) const {
  const Span& span = (*this)[at];
  const auto found = meetings_.find({exchange_of(at), span.step});
  if (found == meetings_.end()) return none;
  const Latest& latest = found->second;
  return latest.last != none && (*this)[latest.last].rank == span.rank ? latest.before : latest.last;
}

std::int64_t StepIndex::active_ns(SpanAt at) const {
  const Span& span = (*this)[at];
  std::int64_t active = std::max(span.begin_ns, span.active_ns);
  if (const SpanAt last = last_to_arrive(at); last != none) active = std::max(active, (*this)[last].begin_ns);
  return std::min(active, span.end_ns);
}

bool StepIndex::misses_compute(int rank, std::int32_t after, std::int32_t before) const {
  const auto& missing = missing_compute_[rank];
  const auto next = std::upper_bound(missing.begin(), missing.end(), after);
  return next != missing.end() && *next < before;
}

}  // namespace rankscope::analysis
