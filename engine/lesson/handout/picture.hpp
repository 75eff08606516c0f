// Pictures of a predicted step for paper: SVG, with axes and units, on white. Pure.
#pragma once
#include <string>
#include <vector>

#include "telemetry/event/event.hpp"
#include "telemetry/event/time_range.hpp"

namespace rankscope {

struct Picture {
  std::string name;     ///< "timeline", "memory": of its file
  std::string caption;  ///< what it shows, and how that was obtained
  std::string svg;
};

/// The prediction of one step, for all ranks or some of them.
struct DrawnStep {
  std::uint32_t step = 0;
  TimeRange range;
  std::vector<Span> spans;            ///< any order; those outside the range are left out
  std::vector<MemorySample> samples;  ///< by time within each rank
  int ranks = 0;                      ///< that have spans here
  std::string language{};             ///< of captions, axes and legends: "de"; empty: English
  std::string note;                   ///< how it was obtained, and what is left out: the end of the captions
};

/// A row for each of the first sixteen ranks: compute, and below it sends, receives and reductions.
Picture draw_timeline(const DrawnStep& step);
/// Of the rank with the greatest peak: bytes by class, stacked, over the same time.
Picture draw_memory(const DrawnStep& step);

/// A field to draw on: `count` places beside each other, the axis from 0 to `most`; with `values`, their steps.
std::string draw_field(std::size_t count, double most, const std::string& unit, const std::string& word,
                       const std::vector<double>& values, const std::string& description = "a field to draw on");

}  // namespace rankscope
