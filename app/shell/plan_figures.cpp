// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/plan_figures.hpp"

#include <QCoreApplication>

#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

QString tr(const char* text) { return QCoreApplication::translate("PlanFigures", text); }

}  // namespace

std::vector<PlanLine> plan_lines(const Figures& figures) {
  const Report* run = figures.run ? &*figures.run : nullptr;
  const Report* plan = figures.predicted ? &*figures.predicted : nullptr;
  const auto of_run = [&](auto&& value) { return run != nullptr ? value(*run) : none; };
  const auto of_plan = [&](auto&& value) { return plan != nullptr ? value(*plan) : none; };
  const double run_step = of_run([](const Report& r) { return r.step_seconds; });
  // A run contains its own prediction, from costs measured on its machine.
  const double predicted_step =
      run != nullptr ? run->predicted_step_seconds : of_plan([](const Report& r) { return r.step_seconds; });
  const Report* either = figures.shown();
  // MFU is FLOPs / (time × peak): within one run it is proportional to 1 / time.
  const double predicted_mfu =
      run != nullptr ? run->mfu * run_step / predicted_step : of_plan([](const Report& r) { return r.mfu; });
  const auto of_either = [&](auto&& value) { return either != nullptr ? value(*either) : none; };

  std::vector<PlanLine> lines;
  lines.push_back({PlanRow::step, tr("median step"), text::unknown(), text::seconds(predicted_step),
                   text::seconds(run_step), tr("Over all steps of the run except the first")});
  lines.push_back({PlanRow::tokens, text::rate_name(figures.scenario ? figures.scenario->model : ModelSpec{}),
                   text::unknown(), text::number(tokens_per_second(figures, predicted_step)),
                   text::number(tokens_per_second(figures, run_step)), tr("Of a step over the median step")});
  lines.push_back(
      {PlanRow::bubble, tr("bubble (median step)"),
       text::percent(of_either([](const Report& r) { return r.bubble.ideal; })),
       text::percent(of_either([](const Report& r) { return r.bubble.predicted; })),
       text::percent(of_run([](const Report& r) { return r.bubble.measured; })),
       tr("Of a run, of the steady step whose bubble is the median. The time line shows the selected step's")});
  lines.push_back({PlanRow::peak_memory, tr("peak memory"), text::unknown(),
                   text::bytes(of_either([](const Report& r) { return greatest_peak(r, true); })),
                   text::bytes(of_run([](const Report& r) { return greatest_peak(r, false); })),
                   tr("Of the rank that needs most, over all steps. The memory view shows the selected step's")});
  const bool by_rank = either != nullptr && !either->links.empty();
  const auto sent = [by_rank](const Report& r, bool predicted) {
    if (by_rank) return sent_by_busiest(r.links, predicted);
    return r.traffic.empty() && r.ranks != 1 ? none : sent_by_purposes(r.traffic, predicted);
  };
  lines.push_back({PlanRow::sent, by_rank ? tr("most sent by a rank") : tr("sent by a rank"), text::unknown(),
                   text::bytes(of_either([&](const Report& r) { return sent(r, true); })),
                   text::bytes(of_run([&](const Report& r) { return sent(r, false); })),
                   by_rank ? tr("Per step, by the rank that sends most")
                           : tr("Per step: sum over all purposes of the bytes that one sender sends")});
  lines.push_back({PlanRow::mfu, tr("MFU"), text::unknown(), text::percent(predicted_mfu),
                   text::percent(of_run([](const Report& r) { return r.mfu; })),
                   tr("FLOPs of the model in the median step, divided by the FLOPs of the devices at peak speed")});
  return lines;
}

std::set<PlanRow> rows_revealing(const QString& path) {
  if (path.startsWith(QLatin1String("bubble"))) return {PlanRow::bubble};
  if (path == QLatin1String("step_seconds") || path == QLatin1String("steps.*.seconds") ||
      path == QLatin1String("steps.*.tokens_per_s"))
    return {PlanRow::step, PlanRow::tokens};
  if (path.startsWith(QLatin1String("memory"))) return {PlanRow::peak_memory};
  if (path.startsWith(QLatin1String("traffic"))) return {PlanRow::sent};
  if (path == QLatin1String("mfu") || path == QLatin1String("hfu") || path.startsWith(QLatin1String("tflops")))
    return {PlanRow::mfu};
  return {};
}

bool shares_reveal(const QString& path) {
  return path.startsWith(QLatin1String("time")) || path.startsWith(QLatin1String("bubble"));
}

bool training_reveals(const QString& path) { return path.startsWith(QLatin1String("steps.")); }

}  // namespace rankscope::app
