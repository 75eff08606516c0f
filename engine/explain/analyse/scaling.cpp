#include "engine/explain/analyse/scaling.hpp"

#include <algorithm>
#include <cmath>

#include "engine/op/not_known.hpp"
#include "engine/op/words.hpp"

namespace rankscope {
namespace {

/// The median over a point's runs of one of their numbers.
template <class Number>
double median_of(const std::vector<const SweepRun*>& runs, Number number) {
  std::vector<double> values;
  for (const SweepRun* run : runs) values.push_back(number(*run));
  return quartile(std::move(values), 2);
}

double tokens_per_second(const SweepPoint& point, double step_seconds) {
  return point.tokens_per_step > 0 ? static_cast<double>(point.tokens_per_step) / step_seconds : not_known;
}

ScalingRow row_of(const Sweep& sweep, std::size_t number) {
  const SweepPoint& point = sweep.points[number];
  ScalingRow row;
  row.point = static_cast<std::int32_t>(number);
  row.reason = point.refused;
  row.clock = sweep.clock;
  row.obtained = sweep.clock == ClockDomain::device ? Obtained::emulated : Obtained::measured;
  std::vector<const SweepRun*> runs;
  std::vector<double> steps, wall_steps;
  for (const SweepRun& run : sweep.runs) {
    if (run.point != row.point) continue;
    if (!run.failure.empty()) {
      if (row.reason.empty())
        row.reason =
            (sweep.repeats > 1 ? fmt::format("run {} of {}: ", run.repeat + 1, sweep.repeats) : "") + run.failure;
      continue;
    }
    runs.push_back(&run);
    steps.insert(steps.end(), run.step_seconds.begin(), run.step_seconds.end());
    wall_steps.insert(wall_steps.end(), run.wall_step_seconds.begin(), run.wall_step_seconds.end());
    row.run_seconds.push_back(quartile(run.step_seconds, 2));
    row.peak_bytes = std::max(row.peak_bytes, run.peak_bytes);
  }
  row.runs = static_cast<std::int32_t>(runs.size());
  row.steps = static_cast<std::int32_t>(steps.size());
  if (runs.empty()) {
    if (row.reason.empty()) row.reason = "stopped before its turn";
    return row;
  }
  row.clock = runs.front()->clock;
  row.obtained = runs.front()->obtained;
  row.first_quartile = quartile(steps, 1);
  row.third_quartile = quartile(steps, 3);
  row.wall_step_seconds = quartile(std::move(wall_steps), 2);
  row.run = {.step_seconds = quartile(std::move(steps), 2),
             .bubble = median_of(runs, [](const SweepRun& r) { return r.bubble; }),
             .exposed = median_of(runs, [](const SweepRun& r) { return r.exposed; })};
  row.predicted = {.step_seconds = median_of(runs, [](const SweepRun& r) { return r.predicted_step_seconds; }),
                   .bubble = median_of(runs, [](const SweepRun& r) { return r.predicted_bubble; }),
                   .exposed = median_of(runs, [](const SweepRun& r) { return r.predicted_exposed; })};
  row.mfu = median_of(runs, [](const SweepRun& r) { return r.mfu; });
  row.hfu = median_of(runs, [](const SweepRun& r) { return r.hfu; });
  for (ScalingFigures* side : {&row.run, &row.predicted})
    side->tokens_per_s = tokens_per_second(point, side->step_seconds);
  row.tokens_per_s_per_rank = row.run.tokens_per_s / point.ranks;
  return row;
}

void compare(ScalingFigures& side, const ScalingFigures& baseline, double times_the_ranks) {
  side.speedup = side.tokens_per_s / baseline.tokens_per_s;
  side.efficiency = side.speedup / times_the_ranks;
}

/// The swept key that changes the trained model, if any: the cost of a token then also changes.
std::string model_key(const Sweep& sweep) {
  for (const Axis& axis : sweep.axes)
    if (axis.key.starts_with("model.")) return axis.key;
  return {};
}

std::string formula_of(const Sweep& sweep, const ScalingRow& baseline) {
  const auto swept = [&](const char* key) {
    return std::any_of(sweep.axes.begin(), sweep.axes.end(), [&](const Axis& axis) { return axis.key == key; });
  };
  if (const std::string key = model_key(sweep); !key.empty())
    return "no speed-up is stated: " + key + " makes the points train different models; compare MFU";
  if (sweep.scaling == Scaling::weak) return "speed-up S = n/n1 * T1/Tn, efficiency = T1/Tn";
  if (swept("train.global_batch")) return "speed-up S = tokens/s over the baseline's, efficiency = S / (n/n1)";
  const std::int32_t ranks = sweep.points[baseline.point].ranks;
  return ranks == 1 ? "speed-up S = T1/Tn, efficiency = T1 / (n * Tn)"
                    : fmt::format("speed-up S = T1/Tn, efficiency = S / (n/n1) with n1 = {}", ranks);
}

}  // namespace

std::string_view name_of(Scaling scaling) { return scaling == Scaling::weak ? "weak" : "strong"; }

std::string SweepPoint::words() const {
  std::string text;
  for (const Override& given : keys) text += (text.empty() ? "" : " ") + given.key + "=" + given.value;
  return text;
}

double quartile(std::vector<double> values, int quarter) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  if (values.empty()) return not_known;
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * static_cast<std::size_t>(quarter) / 4);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::int64_t weak_batch(std::int64_t batch, std::int64_t ranks, std::int64_t first_ranks) {
  if (first_ranks <= 0 || batch * ranks % first_ranks != 0) return -1;
  return batch * ranks / first_ranks;
}

SweepRun sweep_run(const Report& report, std::int32_t point, std::int32_t repeat) {
  SweepRun run;
  run.point = point;
  run.repeat = repeat;
  run.obtained = report.obtained;
  run.clock = report.clock;
  for (const StepRow& step : report.steps)
    if (!std::isnan(step.seconds) && (report.steps.size() == 1 || &step != &report.steps.front()))
      run.step_seconds.push_back(step.seconds);
  const auto exposed = [](const StepShares& time) {
    return time[TimeClass::tensor] + time[TimeClass::pipeline] + time[TimeClass::data] + time[TimeClass::zero];
  };
  run.predicted_step_seconds = report.predicted_step_seconds;
  run.bubble = report.bubble.measured;
  run.predicted_bubble = report.bubble.predicted;
  run.exposed = exposed(report.time);
  if (report.predicted) run.predicted_exposed = exposed(report.predicted->average);
  run.mfu = report.mfu;
  run.hfu = report.hfu;
  for (const MemoryRow& row : report.memory)
    if (row.measured) run.peak_bytes = std::max(run.peak_bytes, row.measured->peak);
  return run;
}

bool ScalingTable::complete() const {
  return std::all_of(rows.begin(), rows.end(), [](const ScalingRow& row) { return row.reason.empty(); });
}

ScalingTable scaling_table(const Sweep& sweep) {
  ScalingTable table;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) table.rows.push_back(row_of(sweep, i));
  table.comparable = model_key(sweep).empty();
  const auto measured = std::ranges::find_if(table.rows, [](const ScalingRow& row) { return row.runs > 0; });
  if (measured == table.rows.end()) {
    table.baseline_words = "none: no point was measured";
    return table;
  }
  const ScalingRow baseline = *measured;
  const auto point_of = [&](const ScalingRow& row) -> const SweepPoint& { return sweep.points[row.point]; };
  table.baseline = baseline.point;
  table.baseline_words =
      point_of(baseline).words() + ", " + counted(point_of(baseline).ranks, "rank") + ": the first point";
  if (baseline.point > 0) table.baseline_words += " that was measured";
  table.formula = formula_of(sweep, baseline);
  if (!table.comparable) return table;
  for (ScalingRow& row : table.rows) {
    if (row.runs == 0) continue;
    const double times_the_ranks = static_cast<double>(point_of(row).ranks) / point_of(baseline).ranks;
    compare(row.run, baseline.run, times_the_ranks);
    compare(row.predicted, baseline.predicted, times_the_ranks);
  }
  return table;
}

}  // namespace rankscope
