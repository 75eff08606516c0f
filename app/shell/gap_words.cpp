// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/gap_words.hpp"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "app/views/common/text.hpp"
#include "engine/plan/scenario/run_choices.hpp"

namespace rankscope::app {
namespace {

constexpr double least_points = 0.05;                 // differences that round to 0.0 are not listed
constexpr double multiple_from = 2;                   // from this factor on, a step's duration is given as a multiple
constexpr double crowded_below = 0.75;                // of the processor that a compute op had
constexpr std::int64_t least_compute_ns = 1'000'000;  // less is not significant

QString tr(const char* text) { return QCoreApplication::translate("GapWords", text); }

/// Exposed communication by purpose.
QString name_of_exchange(Purpose purpose) {
  switch (purpose) {
    case Purpose::none: return {};
    case Purpose::data_gradient: return tr("gradient all-reduce");
    case Purpose::zero_parameter: return tr("ZeRO parameter gathers");
    case Purpose::zero_gradient: return tr("ZeRO gradient reductions");
    case Purpose::tensor: return tr("tensor-parallel sums");
    case Purpose::pipeline_forward: return tr("activations between stages");
    case Purpose::pipeline_backward: return tr("gradients between stages");
    case Purpose::embedding: return tr("tied embedding's gradient");
    case Purpose::norm: return tr("gradient norm");
    case Purpose::loss: return tr("loss");
    case Purpose::server: return tr("server traffic");
    case Purpose::data_parameter: return tr("parameters to replicas");
    case Purpose::batch: return tr("samples to replicas");
    case Purpose::offload: return tr("offload");
    case Purpose::alone: return tr("collective");
    case Purpose::replica_loss: return tr("losses of replicas");
  }
  return {};
}

QString name_of_reason(TimeClass time, BubbleCause cause, Purpose purpose) {
  const bool known = cause != BubbleCause::unknown;
  if (time == TimeClass::other) return known ? text::words(name_of(cause)) : tr("other");
  if (time == TimeClass::bubble && purpose != Purpose::none) return tr("bubble (%1)").arg(name_of_exchange(purpose));
  if (time == TimeClass::bubble && known) return tr("bubble (%1)").arg(text::words(name_of(cause)));
  if (purpose != Purpose::none) return name_of_exchange(purpose);
  return time == TimeClass::recompute ? tr("recomputation") : text::words(name_of(time));
}

/// A difference on a single rank is reported with that rank, a difference on many with all ranks.
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
  const bool of_many =
      std::any_of(gap.begin(), gap.end(), [&](const GapItem& item) { return item.rank != gap[0].rank; });
  QStringList reasons;
  for (const auto& [key, reason] : sorted) {
    if (reasons.size() == static_cast<qsizetype>(most) || std::fabs(reason.points) < least_points) break;
    const bool alone =
        of_many && reason.largest->rank >= 0 && std::fabs(reason.largest->points) > 0.7 * std::fabs(reason.points);
    const double points = alone ? reason.largest->points : reason.points;
    const auto [time, cause, purpose] = key;
    const QString what = name_of_reason(time, cause, purpose);
    reasons << tr("%1 %2%3 pp")
                   .arg(alone ? tr("rank %1's %2").arg(reason.largest->rank).arg(what) : what,
                        points > 0 ? QStringLiteral("+") : QStringLiteral("−"),
                        QString::number(std::fabs(points), 'f', 1));
  }
  return reasons;
}

QString slow_sentence(const SlowRank& slow) {
  return tr("Rank %1 takes %2 times as long as the others for equal work.")
      .arg(slow.rank)
      .arg(QString::number(slow.factor, 'f', 2));
}

/// The share of the time of these measured compute ops in which their threads had a processor: 1 on a free machine.
/// Empty if that was not recorded, or if there are too few data.
std::optional<double> processor_share(const std::vector<Span>& spans) {
  std::int64_t had = 0, took = 0;
  for (const Span& span : spans) {
    if (span.cpu_ns < 0 || !span.op.valid() || span.op.lane() != Lane::compute) continue;
    had += span.cpu_ns;
    took += span.end_ns - span.begin_ns;
  }
  if (took < least_compute_ns) return std::nullopt;
  return std::min(1.0, static_cast<double>(had) / static_cast<double>(took));
}

/// "25 × as long", and the reason if the machine shows it.
QString multiple_words(const Figures& figures, double ratio) {
  const QString times = QString::number(ratio, 'f', ratio < 10 ? 1 : 0);
  const bool wall = figures.run && figures.run->obtained == Obtained::measured;
  if (!wall) return tr("%1 × as long as predicted").arg(times);
  const auto share = figures.device == word_of(DeviceKind::cpu) ? processor_share(figures.step_spans) : std::nullopt;
  if (share && *share < crowded_below)
    return tr("%1 × as long as predicted (machine busy: compute had a processor for %2 of its time)")
        .arg(times, text::percent(*share));
  return (share ? tr("%1 × as long as predicted") : tr("%1 × as long as predicted (machine busy?)")).arg(times);
}

}  // namespace

QString gap_sentence(const Figures& figures, std::size_t most_reasons) {
  const Report* shown = figures.shown();
  const QString slow = shown != nullptr && shown->slow ? slow_sentence(*shown->slow) : QString();
  if (!figures.step || !figures.forecast) return slow;
  const double measured = figures.step->seconds(), predicted = figures.forecast->seconds();
  if (!(predicted > 0)) return slow;
  // Asynchronous workers are at different steps: steps overlap, so a step's length does not give the rate.
  if (figures.run && figures.run->plan.staleness > 0)
    return tr("No worker waits for the others: this step takes %1 from the first begin to the last end, "
              "and the run completes a step every %2 (predicted %3).")
        .arg(text::seconds(measured), text::seconds(figures.run->step_seconds),
             text::seconds(figures.run->predicted_step_seconds));
  const double ratio = measured / predicted, percent = (ratio - 1) * 100;
  QString how = tr("as predicted");
  if (ratio >= multiple_from)
    how = multiple_words(figures, ratio);
  else if (std::fabs(percent) >= 0.05)
    how = (percent > 0 ? tr("%1 % above predicted") : tr("%1 % below predicted"))
              .arg(QString::number(std::fabs(percent), 'f', 1));
  QString sentence = slow.isEmpty() ? slow : slow + QLatin1Char(' ');
  sentence += tr("%1, %2").arg(text::seconds(measured), how);
  // On an overloaded machine every part takes longer: large differences of single parts are not informative.
  const QStringList reasons =
      reasons_of(figures.gap, ratio >= multiple_from ? std::min<std::size_t>(most_reasons, 1) : most_reasons);
  if (!reasons.isEmpty()) sentence += QStringLiteral(": ") + reasons.join(QStringLiteral(", "));
  return sentence;
}

}  // namespace rankscope::app
