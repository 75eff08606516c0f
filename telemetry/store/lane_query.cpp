#include "telemetry/store/lane_query.hpp"

#include <algorithm>
#include <ranges>

namespace rankscope {
namespace {

Span to_span(const LaneView& lane, const SpanRow& row) {
  return {lane.key.rank, row.step, row.op, row.begin_ns, row.active_ns, row.end_ns, row.cpu_ns};
}

SpanRow row_of(const Span& span) {
  SpanRow row;
  row.begin_ns = span.begin_ns;
  row.end_ns = span.end_ns;
  row.step = span.step;
  row.op = span.op;
  return row;
}

// Counts the lane's spans for which `precedes` holds, as (chunk, index) of the first span after them.
struct Place {
  std::size_t chunk = 0;
  std::uint32_t index = 0;
};
template <class Precedes>
Place partition(const LaneView& lane, Precedes precedes) {
  const auto after = std::partition_point(lane.chunks.begin(), lane.chunks.end(),
                                          [&](const SpanChunkRef& r) { return precedes(*r.chunk, 0u); });
  if (after == lane.chunks.begin()) return {};
  const SpanChunkRef& ref = *(after - 1);
  const auto indices = std::views::iota(0u, ref.count);
  const auto other = std::ranges::partition_point(indices, [&](std::uint32_t i) { return precedes(*ref.chunk, i); });
  const auto chunk = static_cast<std::size_t>(after - 1 - lane.chunks.begin());
  return other != indices.end() ? Place{chunk, *other} : Place{chunk + 1, 0};
}

}  // namespace

std::vector<Span> spans_in(const LaneView& lane, TimeRange range, std::int64_t least_ns, std::size_t limit) {
  std::vector<Span> found;
  const auto least = static_cast<double>(least_ns);
  const auto pruned = [&](const SpanSums& sums) {
    return sums.last_end_ns < range.begin_ns || static_cast<double>(sums.longest_ns) < least;
  };
  auto ref = std::partition_point(lane.chunks.begin(), lane.chunks.end(),
                                  [&](const SpanChunkRef& r) { return r.reach_ns < range.begin_ns; });
  for (; ref != lane.chunks.end() && ref->first_begin_ns < range.end_ns; ++ref) {
    if (pruned(ref->sums)) continue;
    const SpanChunk& chunk = *ref->chunk;
    for (std::uint32_t i = 0; i < ref->count;) {
      if (i % SpanChunk::group == 0 && i + SpanChunk::group <= ref->count &&
          pruned(chunk.group_sums(i / SpanChunk::group))) {
        i += SpanChunk::group;
        continue;
      }
      const std::uint32_t stop = std::min(ref->count, i + SpanChunk::fan_out);
      if (stop - i == SpanChunk::fan_out && pruned(chunk.sixteen(i / SpanChunk::fan_out))) {
        i = stop;
        continue;
      }
      for (; i < stop; ++i) {
        const std::int64_t begin = chunk.begin(i);
        if (begin >= range.end_ns) return found;
        const std::int64_t end = chunk.end(i);
        if (end - begin < least_ns || (end <= range.begin_ns && begin < range.begin_ns)) continue;
        if (found.size() == limit) return found;
        found.push_back(to_span(lane, chunk.at(i)));
      }
    }
  }
  return found;
}

std::optional<Span> span_at(const LaneView& lane, std::int64_t time_ns) {
  const Place place = partition(lane, [&](const SpanChunk& c, std::uint32_t i) { return c.begin(i) <= time_ns; });
  for (std::size_t c = std::min(place.chunk + 1, lane.chunks.size()); c-- > 0;) {
    const SpanChunkRef& ref = lane.chunks[c];
    if (ref.reach_ns <= time_ns) return std::nullopt;
    if (ref.sums.last_end_ns <= time_ns) continue;
    std::uint32_t i = c < place.chunk ? ref.count : place.index;
    while (i > 0) {
      if (i % SpanChunk::group == 0 && ref.chunk->group_sums(i / SpanChunk::group - 1).last_end_ns <= time_ns) {
        i -= SpanChunk::group;
      } else if (i % SpanChunk::fan_out == 0 && ref.chunk->sixteen(i / SpanChunk::fan_out - 1).last_end_ns <= time_ns) {
        i -= SpanChunk::fan_out;
      } else if (--i; ref.chunk->end(i) > time_ns) {
        return to_span(lane, ref.chunk->at(i));
      }
    }
  }
  return std::nullopt;
}

std::optional<Span> next_span(const LaneView& lane, const Span& from) {
  const SpanRow row = row_of(from);
  const Place place =
      partition(lane, [&](const SpanChunk& c, std::uint32_t i) { return !SpanChunk::before(row, c.at(i)); });
  if (place.chunk >= lane.chunks.size()) return std::nullopt;
  return to_span(lane, lane.chunks[place.chunk].chunk->at(place.index));
}

std::optional<Span> previous_span(const LaneView& lane, const Span& from) {
  const SpanRow row = row_of(from);
  Place place = partition(lane, [&](const SpanChunk& c, std::uint32_t i) { return SpanChunk::before(c.at(i), row); });
  if (place.index == 0) {
    if (place.chunk == 0) return std::nullopt;
    --place.chunk;
    place.index = lane.chunks[place.chunk].count;
  }
  return to_span(lane, lane.chunks[place.chunk].chunk->at(place.index - 1));
}

std::optional<Span> find_span(const LaneView& lane, std::uint32_t step, OpId op) {
  for (const SpanChunkRef& ref : lane.chunks) {
    if (step < ref.least_step || step > ref.greatest_step) continue;
    for (std::uint32_t i = 0; i < ref.count; ++i)
      if (ref.chunk->step(i) == step && ref.chunk->op(i).id == op) return to_span(lane, ref.chunk->at(i));
  }
  return std::nullopt;
}

void collect_step(const LaneView& lane, std::uint32_t step, std::vector<Span>& into) {
  for (const SpanChunkRef& ref : lane.chunks) {
    if (step < ref.least_step || step > ref.greatest_step) continue;
    for (std::uint32_t i = 0; i < ref.count; ++i)
      if (ref.chunk->step(i) == step) into.push_back(to_span(lane, ref.chunk->at(i)));
  }
}

}  // namespace rankscope
