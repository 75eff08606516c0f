// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/plan_figures.hpp"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double least_points = 0.05;  // what rounds to 0.0 is no reason

QString tr(const char* text) { return QCoreApplication::translate("PlanFigures", text); }

double tokens_per_second(const Figures& figures, double step_seconds) {
  if (!figures.scenario || !(step_seconds > 0)) return none;
  const Scenario& scenario = *figures.scenario;
  return static_cast<double>(scenario.train.global_batch) * scenario.model.tokens_per_sample() / step_seconds;
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

/// One reason as a person says it. What one rank has alone is told of that rank; what many have, of all together.
struct Reason {
  double points = 0;
  const GapItem* largest = nullptr;
};

QStringList reasons_of(const std::vector<GapItem>& gap, std::size_t most) {
  using Key = std::tuple<TimeClass, BubbleCause, Purpose>;
  std::map<Key, Reason> by_kind;
  for (const GapItem& item : gap) {
    const bool idle = item.time == TimeClass::bubble || item.time == TimeClass::other;
    Reason& reason = by_kind[{item.time, idle ? item.cause : BubbleCause::unknown, item.purpose}];
    reason.points += item.points;
    if (reason.largest == nullptr || std::fabs(item.points) > std::fabs(reason.largest->points)) reason.largest = &item;
  }
  std::vector<std::pair<Key, Reason>> sorted(by_kind.begin(), by_kind.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::fabs(a.second.points) > std::fabs(b.second.points);
  });
  QStringList reasons;
  for (const auto& [key, reason] : sorted) {
    if (reasons.size() == static_cast<qsizetype>(most) || std::fabs(reason.points) < least_points) break;
    if (std::fabs(reason.largest->points) > 0.7 * std::fabs(reason.points)) {
      reasons << QString::fromStdString(reason.largest->words);
      continue;
    }
    const auto [time, cause, purpose] = key;
    QString what = text::words(name_of(time));
    if (purpose != Purpose::none) what += tr(" of ") + text::words(name_of(purpose));
    if ((time == TimeClass::bubble || time == TimeClass::other) && cause != BubbleCause::unknown)
      what += tr(" by ") + text::words(name_of(cause));
    reasons << tr("%1 %2%3 points over all ranks")
                   .arg(what, reason.points > 0 ? QStringLiteral("+") : QStringLiteral("−"),
                        QString::number(std::fabs(reason.points), 'f', 1));
  }
  return reasons;
}

QString slow_sentence(const SlowRank& slow) {
  return tr("Rank %1 takes %2 times as long as the others for equal work.")
      .arg(slow.rank)
      .arg(QString::number(slow.factor, 'f', 2));
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
  lines.push_back({PlanRow::step, tr("median step"), text::unknown(), text::seconds(predicted_step),
                   text::seconds(run_step), tr("Of a run over its steady steps: all but the first")});
  lines.push_back({PlanRow::tokens, text::rate_name(figures.scenario ? figures.scenario->model : ModelSpec{}),
                   text::unknown(), text::number(tokens_per_second(figures, predicted_step)),
                   text::number(tokens_per_second(figures, run_step)), tr("Of a step over the median step")});
  lines.push_back(
      {PlanRow::bubble, tr("median bubble"), text::percent(of_either([](const Report& r) { return r.bubble.ideal; })),
       text::percent(of_either([](const Report& r) { return r.bubble.predicted; })),
       text::percent(of_run([](const Report& r) { return r.bubble.measured; })),
       tr("Of a run, of the steady step whose bubble is the median. The time line tells the chosen step's")});
  lines.push_back({PlanRow::peak_memory, tr("peak memory"), text::unknown(),
                   text::bytes(of_either([](const Report& r) { return greatest_peak(r, true); })),
                   text::bytes(of_run([](const Report& r) { return greatest_peak(r, false); })),
                   tr("Of the rank that needs most, over all steps. The memory view tells the chosen step's")});
  const bool by_rank = either != nullptr && !either->links.empty();
  const auto sent = [by_rank](const Report& r, bool predicted) {
    if (by_rank) return sent_by_busiest(r.links, predicted);
    return r.traffic.empty() && r.ranks != 1 ? none : sent_by_purposes(r.traffic, predicted);
  };
  lines.push_back({PlanRow::sent, by_rank ? tr("sent, at most") : tr("sent a rank"), text::unknown(),
                   text::bytes(of_either([&](const Report& r) { return sent(r, true); })),
                   text::bytes(of_run([&](const Report& r) { return sent(r, false); })),
                   by_rank ? tr("In a step, by the rank that sends most")
                           : tr("In a step: what a sender sends for each purpose, added up")});
  lines.push_back({PlanRow::mfu, tr("MFU"), text::unknown(), text::percent(predicted_mfu),
                   text::percent(of_run([](const Report& r) { return r.mfu; })),
                   tr("FLOPs of the model in the median step, over what the devices' peak would do")});
  return lines;
}

std::set<PlanRow> rows_telling(const QString& path) {
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

bool shares_telling(const QString& path) {
  return path.startsWith(QLatin1String("time")) || path.startsWith(QLatin1String("bubble"));
}

bool training_telling(const QString& path) { return path.startsWith(QLatin1String("steps.")); }

QString run_column_name(const Figures& figures) {
  return figures.run && figures.run->obtained == Obtained::emulated ? tr("emulated") : tr("measured");
}

QString gap_sentence(const Figures& figures, std::size_t most_reasons) {
  const Report* shown = figures.shown();
  const QString slow = shown != nullptr && shown->slow ? slow_sentence(*shown->slow) : QString();
  if (!figures.step || !figures.forecast) return slow;
  const double measured = figures.step->seconds(), predicted = figures.forecast->seconds();
  if (!(predicted > 0)) return slow;
  // Asynchronous workers stand at different steps: one step lies over several, and its length says nothing of the pace.
  if (figures.run && figures.run->plan.staleness > 0)
    return tr("No worker waits for the others: from the first who begins to the last who ends this step takes %1, "
              "while the run makes a step every %2 (predicted %3).")
        .arg(text::seconds(measured), text::seconds(figures.run->step_seconds),
             text::seconds(figures.run->predicted_step_seconds));
  const double points = (measured / predicted - 1) * 100;
  const QString who = figures.run && figures.run->obtained == Obtained::emulated ? tr("Emulated") : tr("Measured");
  QString sentence = slow.isEmpty() ? slow : slow + QLatin1Char(' ');
  sentence += std::fabs(points) < 0.05
                  ? tr("%1 as predicted: %2.").arg(who, text::seconds(measured))
                  : tr("%1 %2, predicted %3: %4 % %5")
                        .arg(who, text::seconds(measured), text::seconds(predicted),
                             QString::number(std::fabs(points), 'f', 1), points > 0 ? tr("longer") : tr("shorter"));
  const QStringList reasons = reasons_of(figures.gap, most_reasons);
  if (!reasons.isEmpty()) sentence += tr(", made up of ") + reasons.join(QStringLiteral(" · "));
  return sentence;
}

}  // namespace rankscope::app
