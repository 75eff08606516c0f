// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/answer.hpp"

#include <QCoreApplication>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/views/common/text.hpp"
#include "engine/explain/analyse/report_value.hpp"

namespace rankscope::app {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Answer", text); }

constexpr double close_share = 0.25;  ///< of the value itself: what is farther off is not simply right
constexpr double least_points = 1;    ///< of shares: so little is never far off

QString plain_number(double value) { return QString::number(value, 'g', 6); }

/// "2.7 points", "3.4 MiB".
QString off_text(const Question& question, double off) {
  if (question.unit == "%") return tr("%1 points").arg(QString::number(off, 'f', 1));
  const QString number = off >= 99.5 || off == std::round(off) ? text::number(off) : QString::number(off, 'g', 2);
  return question.unit.empty() ? number : number + QChar(0xA0) + QString::fromStdString(question.unit);
}

}  // namespace

std::optional<double> report_value(const Report& report, const QString& path) {
  return value_at(report, path.toStdString());
}

std::optional<double> path_value(const Paths& paths, const QString& path) {
  return value_at(to_json(paths), path.toStdString());
}

std::vector<double> report_series(const Report& report, const QString& path) {
  return series_at(report, path.toStdString());
}

std::size_t series_size(const std::optional<Scenario>& scenario, const QString& path) {
  if (!scenario) return 0;
  return static_cast<std::size_t>(path.startsWith(QLatin1String("steps")) ? scenario->train.steps
                                                                          : scenario->plan.ranks());
}

double Answer::distance() const {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(drawn.size(), series.size()); ++i) {
    if (!std::isfinite(series[i])) continue;
    sum += std::fabs(drawn[i] - series[i]);
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : std::nan("");
}

bool Answer::right() const {
  return open() && (question.drawn() ? distance() : std::fabs(*guess - *measured)) <= question.tolerance;
}

Grade grade_of(const Answer& answer) {
  if (!answer.right()) return Grade::wrong;
  if (answer.question.drawn()) return Grade::right;
  const double off = std::fabs(*answer.guess - *answer.measured);
  const double little = answer.question.unit == "%" ? least_points : 0;
  return off <= std::max(close_share * std::fabs(*answer.measured), little) ? Grade::right : Grade::close;
}

QString verdict_words(const Answer& answer) {
  const QString allowed = plain_number(answer.question.tolerance);
  const Grade grade = grade_of(answer);
  if (answer.question.drawn()) {
    const QString off = off_text(answer.question, answer.distance());
    return (grade == Grade::right ? tr("Right (%1 off on average; %2 allowed)") : tr("%1 off on average (%2 allowed)"))
        .arg(off, allowed);
  }
  const double off = *answer.guess - *answer.measured;
  if (off == 0) return tr("Right (exact)");
  const QString far = off_text(answer.question, std::fabs(off));
  if (grade == Grade::right) return tr("Right (%1 off; %2 allowed)").arg(far, allowed);
  const QString way = off > 0 ? tr("%1 too high").arg(far) : tr("%1 too low").arg(far);
  return (grade == Grade::close ? tr("Close (%1; %2 allowed)") : tr("%1 (%2 allowed)")).arg(way, allowed);
}

QString guess_text(const Question& question, double value) {
  return question.unit.empty() ? plain_number(value)
                               : plain_number(value) + QChar(0xA0) + QString::fromStdString(question.unit);
}

QString value_text(const Question& question, double value) {
  const QString number = question.unit == "%"       ? QString::number(value, 'f', 1)
                         : question.unit == "steps" ? QString::number(value, 'f', value == std::round(value) ? 0 : 1)
                                                    : text::number(value);
  return question.unit.empty() ? number : number + QChar(0xA0) + QString::fromStdString(question.unit);
}

}  // namespace rankscope::app
