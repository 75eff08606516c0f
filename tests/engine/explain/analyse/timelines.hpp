// Time lines written by hand, for tests of the analysis.
#pragma once
#include <string>
#include <vector>

#include "engine/explain/analyse/step_analysis.hpp"
#include "tests/engine/predict/simulate/pipelines.hpp"

namespace rankscope {

/// A span by token; `active` -1 is `begin`.
inline Span span(int rank, const std::string& token, std::int64_t begin, std::int64_t end, std::int64_t active = -1,
                 std::uint32_t step = 0) {
  return {rank, step, parse_token(token).value(), begin, active < 0 ? begin : active, end, -1};
}

/// Nanoseconds of a rank in a class.
inline double ns_of(const StepAnalysis& analysis, int rank, TimeClass time) {
  return analysis.ranks[static_cast<std::size_t>(rank)][time] * static_cast<double>(analysis.range.length());
}

/// Idle nanoseconds of a rank with that cause.
inline std::int64_t ns_of(const StepAnalysis& analysis, int rank, BubbleCause cause) {
  std::int64_t ns = 0;
  for (const BubbleStretch& s : analysis.stretches)
    if (s.rank == rank && s.cause == cause) ns += s.length_ns();
  return ns;
}

/// The stretches as text, for a test's message.
inline std::string picture(const StepAnalysis& analysis) {
  std::string text;
  for (const BubbleStretch& s : analysis.stretches)
    text += "rank " + std::to_string(s.rank) + " [" + std::to_string(s.begin_ns) + ", " + std::to_string(s.end_ns) +
            ") " + std::string(name_of(s.cause)) + " as " + std::string(name_of(s.time)) + ", waits for rank " +
            std::to_string(s.waits_for_rank) + " " + to_token(s.waits_for_op) + "\n";
  return text;
}

}  // namespace rankscope
