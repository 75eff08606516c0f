// A range of a step: each rank's time in it by class, compared with the same part of the predicted and of the
// textbook's step.
//
// "The same part" is found op by op: between the ends of the same ops on a rank's compute lane, time is mapped
// linearly. So each rank has its own range in the prediction: both have the same work, and only their times differ.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "engine/explain/analyse/gap.hpp"
#include "engine/explain/analyse/step_analysis.hpp"

namespace rankscope {

/// A step and its analysis.
struct AnalysedStep {
  StepAnalysis analysis;
  std::vector<Span> spans;  ///< of the step, at least the compute lanes'
};

/// One rank's part of a range.
struct RangeTime {
  TimeRange range;
  std::array<double, time_class_count> seconds{};  ///< by TimeClass; they sum to the range's length
  double unknown = 0;                              ///< part of `other`
  double length_s() const { return static_cast<double>(range.length()) * 1e-9; }
  double share(TimeClass time) const;  ///< of the range; NaN if that is empty
};

struct RangeRow {
  std::int32_t rank = 0;
  RangeTime measured;
  std::optional<RangeTime> predicted, ideal;  ///< the ideal's seconds are units: only its shares have a meaning
};

struct RangeAnalysis {
  std::uint32_t step = 0;
  TimeRange range;  ///< within the step
  int workers = 0;  ///< number of worker ranks, the first ones; the others are parameter servers
  std::vector<RangeRow> ranks;
  std::vector<GapItem> gap;  ///< see explain_gap: points of the predicted stretches' mean length
  double predicted_s = 0;    ///< mean over workers of the predicted stretches; 0 without a prediction
};

/// `range` is limited to the measured step's; empty: the complete step. `predicted` and `ideal` may be null.
RangeAnalysis analyse_range(const AnalysedStep& measured, const AnalysedStep* predicted, const AnalysedStep* ideal,
                            TimeRange range);

/// The position of the part `range` of `rank`'s step in another run of the same step.
TimeRange counterpart_of(const AnalysedStep& from, const AnalysedStep& to, int rank, TimeRange range);

}  // namespace rankscope
