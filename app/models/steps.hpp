// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the visible steps, the last complete step, and the predicted step under a run's step.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "telemetry/store/run_store.hpp"

namespace rankscope {

struct StepAt {
  std::uint32_t step = 0;
  TimeRange range;
};

/// The steps that overlap `visible`, in order; empty when there are more than `most` (then they are too narrow to
/// distinguish).
std::vector<StepAt> steps_within(const StoreView& view, Obtained obtained, TimeRange visible, std::size_t most);

/// The step whose range contains `time_ns`.
std::optional<StepAt> step_at(const StoreView& view, Obtained obtained, std::int64_t time_ns);

/// The last step that all ranks have left: the one before the last, or the last one when the session has ended; of
/// a prediction the steady step.
std::optional<std::uint32_t> last_whole_step(const StoreView& view, Obtained obtained);

/// A predicted step drawn under a step of the run: run time = predicted time + shift_ns.
struct PredictedStep {
  std::uint32_t step = 0, predicted_step = 0;
  TimeRange range;      ///< of the run's step
  TimeRange predicted;  ///< of the predicted step, on the prediction's clock
  std::int64_t shift_ns = 0;
  std::int64_t forecast_end_ns() const { return predicted.end_ns + shift_ns; }  ///< on the run's clock
};
/// The predicted step of the same number, else the last predicted one: a plan's steps are identical after the first.
std::optional<PredictedStep> predicted_for(const StoreView& prediction, const StepAt& step);

/// The time range that shows a complete step: the run's step, and its forecast if that takes longer, up
/// to twice as long as the run's. `prediction` may be the run's own store.
std::optional<TimeRange> step_with_forecast(const StoreView& run, const StoreView& prediction, Obtained shown,
                                            std::uint32_t step);

/// The range on the run's clock for the forecast of a step: up to the begin of the next one. The forecast of `chosen`,
/// the step that the user looks at, is shown completely; those of its neighbours are cut.
TimeRange room_for_forecast(const PredictedStep& step, const std::optional<PredictedStep>& chosen);

}  // namespace rankscope
