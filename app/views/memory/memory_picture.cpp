// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/memory/memory_picture.hpp"

#include <algorithm>

#include "app/models/steps.hpp"

namespace rankscope::app {
namespace {

/// With more steps than this the predicted outline would be unreadable: only the peak line is drawn.
constexpr int most_predicted_steps = 64;
/// Samples of a wall-clock step are moved to the device clock one by one; if there are more steps, nothing is shown.
constexpr std::size_t most_moved_steps = 256;
constexpr int samples_per_moved_step = 512;

/// The rank's samples on the shown clock. Memory is sampled during the execution, so an emulated run has samples on the
/// wall clock only. Each belongs to an op, and is moved to the time of that op on the device clock.
std::vector<MemorySample> samples_of(const StoreView& view, int rank, Obtained shown, TimeRange range, int columns) {
  std::vector<MemorySample> samples = view.memory(rank, shown, range, columns);
  if (!samples.empty() || shown != Obtained::emulated) return samples;
  for (const StepAt& step : steps_within(view, shown, range, most_moved_steps)) {
    const auto wall = view.step_range(Obtained::measured, step.step);
    if (!wall) continue;
    std::int64_t time = step.range.begin_ns;
    for (MemorySample sample : view.memory(rank, Obtained::measured, *wall, samples_per_moved_step)) {
      if (sample.step == step.step)
        if (const auto span = view.find(rank, sample.step, sample.op, Obtained::emulated))
          time = std::max(time, span->begin_ns);
      sample.time_ns = time;
      samples.push_back(sample);
    }
  }
  return samples;
}

std::optional<MemorySample> greatest_of(const StoreView& view, int rank, Obtained obtained, TimeRange range) {
  const auto samples = samples_of(view, rank, obtained, range, 1);
  const auto greatest = std::max_element(
      samples.begin(), samples.end(),
      [](const MemorySample& a, const MemorySample& b) { return device_sum(a.bytes) < device_sum(b.bytes); });
  if (greatest == samples.end()) return std::nullopt;
  return *greatest;
}

int column_at(std::int64_t time_ns, TimeRange range, int columns) {
  const double at = static_cast<double>(time_ns - range.begin_ns) / static_cast<double>(range.length());
  return std::clamp(static_cast<int>(at * columns), 0, columns);
}

/// The predicted sums for the run: each step of the run is compared with the predicted step of the same number.
std::vector<std::int64_t> predicted_columns(const MemoryRequest& request) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(request.columns), -1);
  if (!request.prediction) return result;
  for (const StepAt& step : steps_within(*request.run, request.shown, request.range, most_predicted_steps)) {
    const auto under = predicted_for(*request.prediction, step);
    if (!under) continue;
    const std::int64_t shift = under->shift_ns;
    const TimeRange shown{std::max(request.range.begin_ns, step.range.begin_ns),
                          std::min({request.range.end_ns, step.range.end_ns, under->predicted.end_ns + shift})};
    if (shown.empty()) continue;
    const int begin = column_at(shown.begin_ns, request.range, request.columns);
    const int end = std::max(begin + 1, column_at(shown.end_ns, request.range, request.columns));
    const TimeRange source{shown.begin_ns - shift, shown.end_ns - shift};
    const auto columns = columns_of(request.prediction->memory(request.rank, Obtained::simulated, source, end - begin),
                                    source, end - begin);
    for (int i = begin; i < end && i < request.columns; ++i) {
      const MemoryColumn& column = columns[static_cast<std::size_t>(i - begin)];
      if (column.state == MemoryColumn::State::known)
        result[static_cast<std::size_t>(i)] = std::max(result[static_cast<std::size_t>(i)], device_sum(column.bytes));
    }
  }
  return result;
}

/// The chosen step if it exists, else the last one.
std::optional<StepAt> step_of(const MemoryRequest& request) {
  const auto steps = request.run->steps(request.shown);
  if (steps.empty()) return std::nullopt;
  const std::uint32_t step =
      request.step && std::binary_search(steps.begin(), steps.end(), *request.step) ? *request.step : steps.back();
  const auto range = request.run->step_range(request.shown, step);
  if (!range) return std::nullopt;
  return StepAt{step, *range};
}

std::vector<RankPeak> peaks_of(const MemoryRequest& request, const StepAt& step) {
  std::vector<RankPeak> peaks;
  std::optional<TimeRange> predicted_range;
  if (request.prediction)
    if (const auto under = predicted_for(*request.prediction, step)) predicted_range = under->predicted;
  int last_rank = -1;
  for (const LaneKey& lane : request.run->lanes()) {
    if (lane.obtained != request.shown || lane.rank == last_rank) continue;
    last_rank = lane.rank;
    const auto greatest = greatest_of(*request.run, lane.rank, request.shown, step.range);
    if (!greatest) continue;
    RankPeak peak{lane.rank, greatest->bytes, -1, greatest->op};
    if (predicted_range)
      if (const auto predicted = greatest_of(*request.prediction, lane.rank, Obtained::simulated, *predicted_range))
        peak.predicted = device_sum(predicted->bytes);
    peaks.push_back(peak);
  }
  return peaks;
}

}  // namespace

std::vector<MemoryColumn> columns_of(const std::vector<MemorySample>& samples, TimeRange range, int columns) {
  std::vector<MemoryColumn> result(static_cast<std::size_t>(std::max(columns, 0)));
  if (result.empty() || range.empty()) return result;
  MemoryColumn level;
  std::size_t next = 0;
  for (; next < samples.size() && samples[next].time_ns <= range.begin_ns; ++next)
    level = {MemoryColumn::State::known, samples[next].bytes, samples[next].op};
  for (int i = 0; i < columns; ++i) {
    MemoryColumn greatest = level;
    for (; next < samples.size() && column_at(samples[next].time_ns, range, columns) <= i; ++next) {
      level = {MemoryColumn::State::known, samples[next].bytes, samples[next].op};
      if (greatest.state != MemoryColumn::State::known || device_sum(level.bytes) > device_sum(greatest.bytes))
        greatest = level;
    }
    result[static_cast<std::size_t>(i)] = greatest;
  }
  return result;
}

MemoryPicture compose_memory(const MemoryRequest& request) {
  MemoryPicture picture;
  picture.rank = request.rank;
  picture.range = request.range;
  if (!request.run || request.columns <= 0 || request.range.empty()) return picture;
  picture.columns = columns_of(samples_of(*request.run, request.rank, request.shown, request.range, request.columns),
                               request.range, request.columns);
  for (const Gap& gap : request.run->gaps(request.rank)) {
    const TimeRange hidden = {std::max(gap.begin_ns, request.range.begin_ns),
                              std::min(gap.end_ns, request.range.end_ns)};
    if (hidden.empty()) continue;
    const int end = column_at(hidden.end_ns, request.range, request.columns);
    for (int i = column_at(hidden.begin_ns, request.range, request.columns); i < end; ++i)
      picture.columns[static_cast<std::size_t>(i)].state = MemoryColumn::State::unknown;
  }
  picture.predicted = predicted_columns(request);
  if (const auto step = step_of(request)) {
    picture.origin_ns = step->range.begin_ns;
    picture.peaks = peaks_of(request, *step);
  }
  const auto reach = [&](const ClassBytes& bytes) {
    const std::int64_t host = bytes[static_cast<std::size_t>(MemoryClass::host)];
    picture.greatest = std::max({picture.greatest, device_sum(bytes), host});
    for (std::size_t c = 0; c < bytes.size(); ++c) picture.shown[c] |= bytes[c] > 0;
  };
  for (const MemoryColumn& column : picture.columns)
    if (column.state == MemoryColumn::State::known) reach(column.bytes);
  for (const std::int64_t bytes : picture.predicted) picture.greatest = std::max(picture.greatest, bytes);
  for (const RankPeak& peak : picture.peaks) {
    reach(peak.bytes);
    picture.greatest = std::max(picture.greatest, peak.predicted);
  }
  return picture;
}

}  // namespace rankscope::app
