// Queries on one lane's snapshot. Times are as stamped; the caller corrects clocks.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "telemetry/store/lane_column.hpp"

namespace rankscope {

/// Adds the lane's shares of `pixels.size()` equal columns of `range` to `pixels`; if spans overlap, a column's sum can
/// exceed 1.
void add_shares(const LaneView& lane, TimeRange range, std::span<PixelShare> pixels);

/// In order of begin; a span of length zero is in a range that contains its begin.
std::vector<Span> spans_in(const LaneView& lane, TimeRange range, std::int64_t least_ns, std::size_t limit);
/// Of the spans that contain this time, the last to begin: the innermost if spans nest.
std::optional<Span> span_at(const LaneView& lane, std::int64_t time_ns);
std::optional<Span> next_span(const LaneView& lane, const Span& from);
std::optional<Span> previous_span(const LaneView& lane, const Span& from);
std::optional<Span> find_span(const LaneView& lane, std::uint32_t step, OpId op);
/// Appends all spans of that step, in order.
void collect_step(const LaneView& lane, std::uint32_t step, std::vector<Span>& into);

}  // namespace rankscope
