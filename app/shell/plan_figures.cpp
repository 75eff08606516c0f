// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/plan_figures.hpp"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

QString tr(const char* text) { return QCoreApplication::translate("PlanFigures", text); }

double tokens_per_second(const Figures& figures, double step_seconds) {
  if (!figures.scenario || !(step_seconds > 0)) return none;
  const Scenario& scenario = *figures.scenario;
  return static_cast<double>(scenario.train.global_batch) * scenario.model.context / step_seconds;
}

/// Of the rank that needs most.
double greatest_peak(const Report& report, bool predicted) {
  double peak = none;
  for (const MemoryRow& row : report.memory) {
    const auto& bytes = predicted ? row.predicted : row.measured;
    if (bytes && !(peak >= static_cast<double>(bytes->peak))) peak = static_cast<double>(bytes->peak);
  }
  return peak;
}

double sent(const Report& report, bool predicted) {
  double bytes = report.traffic.empty() && report.ranks != 1 ? none : 0;
  for (const TrafficReport& row : report.traffic) bytes += predicted ? row.predicted : row.bytes_per_rank;
  return bytes;
}

}  // namespace

std::vector<PlanLine> plan_lines(const Figures& figures) {
  const Report* run = figures.run ? &*figures.run : nullptr;
  const Report* plan = figures.predicted ? &*figures.predicted : nullptr;
  const auto of_run = [&](auto&& value) { return run != nullptr ? value(*run) : none; };
  const auto of_plan = [&](auto&& value) { return plan != nullptr ? value(*plan) : none; };
  const double run_step = of_run([](const Report& r) { return r.step_seconds; });
  // A run brings a prediction of its own, by what the machine was measured to do.
  const double predicted_step =
      run != nullptr ? run->predicted_step_seconds : of_plan([](const Report& r) { return r.step_seconds; });
  const Report* either = figures.shown();
  // MFU is FLOPs / (time × peak): of one run, it goes with 1 / time.
  const double predicted_mfu =
      run != nullptr ? run->mfu * run_step / predicted_step : of_plan([](const Report& r) { return r.mfu; });
  const auto of_either = [&](auto&& value) { return either != nullptr ? value(*either) : none; };

  std::vector<PlanLine> lines;
  lines.push_back({PlanRow::step, tr("step"), text::unknown(), text::seconds(predicted_step), text::seconds(run_step)});
  lines.push_back({PlanRow::tokens, tr("tokens / s"), text::unknown(),
                   text::number(tokens_per_second(figures, predicted_step)),
                   text::number(tokens_per_second(figures, run_step))});
  lines.push_back({PlanRow::bubble, tr("bubble"),
                   text::percent(of_either([](const Report& r) { return r.bubble.ideal; })),
                   text::percent(of_either([](const Report& r) { return r.bubble.predicted; })),
                   text::percent(of_run([](const Report& r) { return r.bubble.measured; }))});
  lines.push_back({PlanRow::peak_memory, tr("peak memory"), text::unknown(),
                   text::bytes(of_either([](const Report& r) { return greatest_peak(r, true); })),
                   text::bytes(of_run([](const Report& r) { return greatest_peak(r, false); }))});
  lines.push_back({PlanRow::sent, tr("sent a rank"), text::unknown(),
                   text::bytes(of_either([](const Report& r) { return sent(r, true); })),
                   text::bytes(of_run([](const Report& r) { return sent(r, false); }))});
  lines.push_back({PlanRow::mfu, tr("MFU"), text::unknown(), text::percent(predicted_mfu),
                   text::percent(of_run([](const Report& r) { return r.mfu; }))});
  return lines;
}

std::set<PlanRow> rows_telling(const QString& path) {
  if (path.startsWith(QLatin1String("bubble"))) return {PlanRow::bubble};
  if (path.startsWith(QLatin1String("step_seconds")) || path.startsWith(QLatin1String("steps")))
    return {PlanRow::step, PlanRow::tokens};
  if (path.startsWith(QLatin1String("memory"))) return {PlanRow::peak_memory};
  if (path.startsWith(QLatin1String("traffic"))) return {PlanRow::sent};
  if (path == QLatin1String("mfu") || path == QLatin1String("hfu") || path.startsWith(QLatin1String("tflops")))
    return {PlanRow::mfu};
  return {};
}

bool shares_telling(const QString& path) {
  return path.startsWith(QLatin1String("time")) || path.startsWith(QLatin1String("bubble"));
}

QString run_column_name(const Figures& figures) {
  return figures.run && figures.run->obtained == Obtained::emulated ? tr("emulated") : tr("measured");
}

QString gap_sentence(const Figures& figures, std::size_t most_reasons) {
  if (!figures.step || !figures.forecast) return {};
  const double measured = figures.step->seconds(), predicted = figures.forecast->seconds();
  if (!(predicted > 0)) return {};
  const double points = (measured / predicted - 1) * 100;
  const QString who = figures.run && figures.run->obtained == Obtained::emulated ? tr("Emulated") : tr("Measured");
  QString words = std::fabs(points) < 0.05
                      ? tr("%1 as predicted: %2.").arg(who, text::seconds(measured))
                      : tr("%1 %2, predicted %3: %4 % %5")
                            .arg(who, text::seconds(measured), text::seconds(predicted),
                                 QString::number(std::fabs(points), 'f', 1), points > 0 ? tr("longer") : tr("shorter"));
  QStringList reasons;
  for (const GapItem& item : figures.gap) {
    if (reasons.size() == static_cast<qsizetype>(most_reasons)) break;
    if (std::fabs(item.points) >= 0.05) reasons << QString::fromStdString(item.words);
  }
  if (!reasons.isEmpty()) words += QStringLiteral(" · ") + reasons.join(QStringLiteral(" · "));
  return words;
}

}  // namespace rankscope::app
