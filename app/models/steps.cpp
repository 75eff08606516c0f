// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/steps.hpp"

#include <algorithm>
#include <limits>

#include "engine/predict/layout/simulate.hpp"

namespace rankscope {
namespace {

// Index of the first step that ends after `time_ns`. Steps follow each other, so their ends are ordered.
std::size_t first_ending_after(const StoreView& view, Obtained obtained, const std::vector<std::uint32_t>& steps,
                               std::int64_t time_ns) {
  const auto ends_before = [&](std::uint32_t step, std::int64_t time) {
    const auto range = view.step_range(obtained, step);
    return range && range->end_ns <= time;
  };
  return static_cast<std::size_t>(std::lower_bound(steps.begin(), steps.end(), time_ns, ends_before) - steps.begin());
}

}  // namespace

std::vector<StepAt> steps_within(const StoreView& view, Obtained obtained, TimeRange visible, std::size_t most) {
  const auto steps = view.steps(obtained);
  std::vector<StepAt> result;
  for (std::size_t i = first_ending_after(view, obtained, steps, visible.begin_ns); i < steps.size(); ++i) {
    const auto range = view.step_range(obtained, steps[i]);
    if (!range) continue;
    if (range->begin_ns >= visible.end_ns) break;
    if (result.size() == most) return {};
    result.push_back({steps[i], *range});
  }
  return result;
}

std::optional<StepAt> step_at(const StoreView& view, Obtained obtained, std::int64_t time_ns) {
  const auto steps = view.steps(obtained);
  const std::size_t i = first_ending_after(view, obtained, steps, time_ns);
  if (i == steps.size()) return std::nullopt;
  const auto range = view.step_range(obtained, steps[i]);
  if (!range || range->begin_ns > time_ns) return std::nullopt;
  return StepAt{steps[i], *range};
}

std::optional<std::uint32_t> last_whole_step(const StoreView& view, Obtained obtained) {
  const auto steps = view.steps(obtained);
  if (steps.empty()) return std::nullopt;
  // Only a measured run that has not ended has an incomplete step.
  if (obtained == Obtained::simulated) return steps[steady_step(steps.size())];
  if (obtained != Obtained::measured || !view.ends().empty()) return steps.back();
  if (steps.size() < 2) return std::nullopt;
  return steps[steps.size() - 2];
}

std::optional<PredictedStep> predicted_for(const StoreView& prediction, const StepAt& step) {
  const auto steps = prediction.steps(Obtained::simulated);
  if (steps.empty()) return std::nullopt;
  const bool same = std::binary_search(steps.begin(), steps.end(), step.step);
  const std::uint32_t number = same ? step.step : steps[steady_step(steps.size())];
  const auto range = prediction.step_range(Obtained::simulated, number);
  if (!range) return std::nullopt;
  return PredictedStep{step.step, number, step.range, *range, step.range.begin_ns - range->begin_ns};
}

std::optional<TimeRange> step_with_forecast(const StoreView& run, const StoreView& prediction, Obtained shown,
                                            std::uint32_t step) {
  auto range = run.step_range(shown, step);
  if (!range || range->empty() || shown == Obtained::simulated) return range;
  if (const auto predicted = predicted_for(prediction, {step, *range}))
    range->end_ns =
        std::clamp(predicted->forecast_end_ns(), range->end_ns, range->end_ns + (range->end_ns - range->begin_ns));
  return range;
}

TimeRange room_for_forecast(const PredictedStep& step, const std::optional<PredictedStep>& chosen) {
  constexpr auto always = std::numeric_limits<std::int64_t>::max();
  if (chosen && step.step == chosen->step) return {step.range.begin_ns, always};
  TimeRange room{step.range.begin_ns, step.range.end_ns};
  if (chosen && step.step > chosen->step) room.begin_ns = std::max(room.begin_ns, chosen->forecast_end_ns());
  return room;
}

}  // namespace rankscope
