// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/compare/compare_rows.hpp"

#include <QObject>
#include <cmath>
#include <functional>

#include "app/views/common/text.hpp"
#include "engine/explain/analyse/difference.hpp"

namespace rankscope::app {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr int most_reasons = 4;

using text::tr;

QString plain(const std::string& name) {
  return QString::fromStdString(name).replace(QLatin1Char('_'), QLatin1Char(' '));
}

QString with_sign(double value, const std::function<QString(double)>& words) {
  if (!std::isfinite(value)) return text::unknown();
  if (value == 0) return words(0);
  return (value > 0 ? QStringLiteral("+") : QStringLiteral("−")) + words(std::fabs(value));
}

QString relative(double a, double b) {
  if (!(a != 0) || !std::isfinite(a) || !std::isfinite(b)) return text::unknown();
  return with_sign(b / a - 1, [](double share) { return text::percent(share); });
}

enum class Better : std::uint8_t { less, more, neither };

Tone tone_of(double a, double b, Better better) {
  if (better == Better::neither || !std::isfinite(a) || !std::isfinite(b)) return Tone::text;
  if (std::fabs(b - a) <= 0.005 * std::max(std::fabs(a), std::fabs(b))) return Tone::dim;  // runs differ by that much
  return (b < a) == (better == Better::less) ? Tone::good : Tone::bad;
}

std::vector<Cell> row(const QString& name, double a, double b, const std::function<QString(double)>& words,
                      Better better) {
  const Tone tone = tone_of(a, b, better);
  return {{name}, {words(a)}, {words(b)}, {with_sign(b - a, words), tone, {}}, {relative(a, b), tone, {}}};
}

/// Differences of shares are in percentage points.
std::vector<Cell> share_row(const QString& name, double a, double b, Better better) {
  const auto points = [](double value) { return QObject::tr("%1 points").arg(value * 100, 0, 'f', 1); };
  const Tone tone = tone_of(a, b, better);
  return {{name},
          {text::percent(a)},
          {text::percent(b)},
          {with_sign(b - a, points), tone, {}},
          {text::unknown(), Tone::dim, {}}};
}

double bubble_of(const Figures& figures) {
  const Report& report = *figures.shown();
  return figures.run ? report.bubble.measured : report.bubble.predicted;
}

/// Counted, else predicted.
double sent_of(const Figures& figures, bool by_rank) {
  const Report& report = *figures.shown();
  const auto sent = [&](bool predicted) {
    return by_rank ? sent_by_busiest(report.links, predicted) : sent_by_purposes(report.traffic, predicted);
  };
  const double counted = figures.run ? sent(false) : none;
  return std::isfinite(counted) ? counted : sent(true);
}

double loss_of(const Figures& figures) {
  if (!figures.run || figures.run->steps.empty()) return none;
  return figures.run->steps.back().loss;
}

/// "emulated, device clock"
QString origin_of(const Figures& figures) {
  const Report& report = *figures.shown();
  return tr("%1, %2 clock").arg(text::words(name_of(report.obtained)), text::words(name_of(report.clock)));
}

bool same_origin(const Figures& a, const Figures& b) {
  return a.shown()->obtained == b.shown()->obtained && a.shown()->clock == b.shown()->clock;
}

std::vector<std::vector<Cell>> summary_rows(const Figures& a, const Figures& b) {
  const Report &of_a = *a.shown(), &of_b = *b.shown();
  const auto number = [](double value) { return text::number(value); };
  std::vector<std::vector<Cell>> rows;
  const auto origin = [&](const Figures& of) {
    const QString words = origin_of(of);
    return Cell{text::words(name_of(of.shown()->obtained)), same_origin(a, b) ? Tone::dim : Tone::text, words};
  };
  rows.push_back({{tr("times are")}, origin(a), origin(b), {QString()}, {QString()}});
  rows.push_back(row(tr("median step"), of_a.step_seconds, of_b.step_seconds, text::seconds, Better::less));
  const ModelSpec model = a.scenario ? a.scenario->model : ModelSpec{};
  rows.push_back(row(text::rate_name(model), tokens_per_second(a, of_a.step_seconds),
                     tokens_per_second(b, of_b.step_seconds), number, Better::more));
  rows.push_back(share_row(tr("bubble"), bubble_of(a), bubble_of(b), Better::less));
  rows.push_back(share_row(tr("MFU"), of_a.mfu, of_b.mfu, Better::more));
  rows.push_back(share_row(tr("HFU"), of_a.hfu, of_b.hfu, Better::neither));
  rows.push_back(
      row(tr("peak memory"), greatest_peak(of_a, !a.run), greatest_peak(of_b, !b.run), text::bytes, Better::less));
  const bool by_rank = !of_a.links.empty() && !of_b.links.empty();
  rows.push_back(row(by_rank ? tr("most sent by a rank") : tr("sent by a rank"), sent_of(a, by_rank),
                     sent_of(b, by_rank), text::bytes, Better::less));
  rows.push_back(row(
      tr("ranks"), of_a.ranks, of_b.ranks, [](double value) { return QString::number(value); }, Better::neither));
  rows.push_back(row(tr("last loss"), loss_of(a), loss_of(b), number, Better::less));
  return rows;
}

bool comparable(const Figures& a, const Figures& b) { return a.shown() != nullptr && b.shown() != nullptr; }

std::vector<DifferenceRow> differences(const Figures& a, const Figures& b) {
  const StepAnalysis *step_a = a.shown_step(), *step_b = b.shown_step();
  if (step_a == nullptr || step_b == nullptr) return {};
  return difference_of({step_a, a.step_spans}, {step_b, b.step_spans});
}

}  // namespace

QString label_of(CompareBy by) {
  switch (by) {
    case CompareBy::summary: return tr("whole run");
    case CompareBy::time: return tr("where the step's time goes");
    case CompareBy::causes: return tr("causes of idle compute");
    case CompareBy::ops: return tr("kinds of ops");
    case CompareBy::ranks: return tr("ranks");
  }
  return {};
}

QStringList compare_titles() {
  return {QString(), QStringLiteral("A"), QStringLiteral("B"), QStringLiteral("B − A"), tr("change, %")};
}

std::vector<std::vector<Cell>> compare_rows(const Figures& a, const Figures& b, CompareBy by) {
  if (!comparable(a, b)) return {};
  if (by == CompareBy::summary) return summary_rows(a, b);
  std::vector<std::vector<Cell>> rows;
  const StepAnalysis *step_a = a.shown_step(), *step_b = b.shown_step();
  if (by == CompareBy::time && step_a != nullptr && step_b != nullptr)
    rows.push_back(row(tr("whole step"), step_a->seconds(), step_b->seconds(), text::seconds, Better::less));
  for (const DifferenceRow& difference : differences(a, b)) {
    const double in_a = difference.a.seconds, in_b = difference.b.seconds;
    const auto add = [&](const QString& name) { rows.push_back(row(name, in_a, in_b, text::seconds, Better::less)); };
    switch (difference.kind) {
      case DifferenceKind::time:
        if (by == CompareBy::time) add(plain(difference.name));
        break;
      case DifferenceKind::cause:
        if (by == CompareBy::causes) add(plain(difference.name));
        break;
      case DifferenceKind::op:
        if (by != CompareBy::ops) break;
        add(plain(difference.name));
        rows.back()[1].help = tr("%1 per rank and step").arg(text::number(difference.a.count));
        rows.back()[2].help = tr("%1 per rank and step").arg(text::number(difference.b.count));
        break;
      case DifferenceKind::compute:
        if (by == CompareBy::ranks) add(tr("rank %1, compute").arg(difference.rank));
        break;
      case DifferenceKind::idle:
        if (by == CompareBy::ranks) add(tr("rank %1, bubble").arg(difference.rank));
        break;
    }
  }
  return rows;
}

QString compare_sentence(const Figures& a, const Figures& b) {
  const StepAnalysis *step_a = a.shown_step(), *step_b = b.shown_step();
  if (!comparable(a, b) || step_a == nullptr || step_b == nullptr) return {};
  const double difference = step_b->seconds() - step_a->seconds();
  if (std::fabs(difference) < 0.005 * step_a->seconds())
    return tr("Both steps take %1.").arg(text::seconds(step_b->seconds()));
  QString words = tr("The shown step of B is %1 %2 than that of A (%3)")
                      .arg(text::seconds(std::fabs(difference)), difference > 0 ? tr("longer") : tr("shorter"),
                           relative(step_a->seconds(), step_b->seconds()));
  if (!same_origin(a, b)) words += tr("; A is %1, B is %2").arg(origin_of(a), origin_of(b));
  QStringList reasons;
  for (const DifferenceRow& item : differences(a, b)) {
    if (item.kind != DifferenceKind::time || reasons.size() == most_reasons) break;
    if (std::fabs(item.seconds()) < 0.01 * std::fabs(difference)) break;
    reasons << plain(item.name) + QLatin1Char(' ') + with_sign(item.seconds(), text::seconds);
  }
  return reasons.isEmpty() ? words + QLatin1Char('.')
                           : words + QStringLiteral(": ") + reasons.join(QStringLiteral(" · "));
}

}  // namespace rankscope::app
