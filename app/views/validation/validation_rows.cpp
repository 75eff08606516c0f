// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/validation/validation_rows.hpp"

#include <QObject>
#include <cmath>

#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr double near = 0.05, far = 0.15;  ///< errors that are highlighted, in both directions

using text::tr;

Tone tone_of(double error) {
  return !std::isfinite(error)      ? Tone::dim
         : std::fabs(error) <= near ? Tone::good
         : std::fabs(error) >= far  ? Tone::bad
                                    : Tone::text;
}

QString not_judged() { return tr("Shown only: the source does not state exactly what was measured."); }

QString unit_words(const ValidatedTable& table) {
  if (table.unit == "x") return tr("a ratio");
  if (table.unit == "B") return tr("billions");
  return QString::fromStdString(table.unit == "us" ? "µs" : table.unit);
}

}  // namespace

QString error_words(const ValidatedTable& table) {
  QStringList words;
  if (table.held_out) words << tr("Held out: nothing was fitted to it.");
  if (!table.judged) words << not_judged();
  words << tr("Errors up to %1 % are green, from %2 % red; grey errors do not count.")
               .arg(std::lround(near * 100))
               .arg(std::lround(far * 100));
  return words.join(QLatin1Char(' '));
}

QStringList table_titles() { return {tr("published table"), tr("rows"), tr("mean error"), tr("worst"), tr("τ")}; }

std::vector<std::vector<Cell>> table_rows(const std::vector<ValidatedTable>& tables) {
  std::vector<std::vector<Cell>> rows;
  for (const ValidatedTable& table : tables) {
    std::size_t fitted = 0;
    for (const ValidatedRow& row : table.rows) fitted += row.fitted ? 1 : 0;
    const QString source = QString::fromStdString(table.source);
    const QString title = QString::fromStdString(table.title);
    const QString fits =
        fitted == 0 ? tr("No constant was fitted to any of these tables")
                    : tr("Constants were fitted to %1 of these tables, which do not count in the errors").arg(fitted);
    const QString tau = std::isfinite(table.tau) ? QString::number(table.tau, 'f', 2) : text::unknown();
    const Tone mean = table.judged ? tone_of(table.mean_error) : Tone::dim;
    const Tone worst = table.judged ? tone_of(table.worst_error) : Tone::dim;
    const QString why = table.judged ? QString() : not_judged();
    rows.push_back(
        {{title, Tone::text, source},
         {QString::number(table.rows.size()), Tone::dim, fits},
         {text::percent(table.mean_error), mean, why},
         {text::percent(table.worst_error), worst, why},
         {tau, Tone::dim, tr("Kendall's τ of the order of the rows: 1 if prediction and publication agree")}});
  }
  return rows;
}

QStringList validated_titles(const ValidatedTable& table) {
  const QString unit = unit_words(table);
  return {QString(), tr("published, %1").arg(unit), tr("predicted, %1").arg(unit), tr("error")};
}

std::vector<std::vector<Cell>> validated_rows(const ValidatedTable& table) {
  std::vector<std::vector<Cell>> rows;
  for (const ValidatedRow& row : table.rows) {
    QStringList notes{QString::fromStdString(row.name)};
    if (row.fitted) notes << tr("fitted to it: no test");
    if (row.width() > 0)
      notes << tr("%1 to %2: the source is not exact").arg(text::number(row.low), text::number(row.high));
    rows.push_back({{notes.join(QStringLiteral(" · ")), row.fitted ? Tone::dim : Tone::text, {}},
                    {text::number(row.published), row.fitted ? Tone::dim : Tone::text, {}},
                    {text::number(row.predicted()), row.fitted ? Tone::dim : Tone::text, {}},
                    {text::signed_percent(row.error()), row.fitted ? Tone::dim : tone_of(row.error()), {}}});
  }
  return rows;
}

Plot plot_of(const ValidatedTable& table, const Palette& colours) {
  Plot plot;
  const QString unit = unit_words(table);
  plot.title = tr("predicted / published");
  const auto number = [](double value) { return text::number(value); };
  plot.x = {true, {}, {}, number, {}, tr("published, %1").arg(unit)};
  plot.y = {true, {}, {}, number, {}, tr("predicted, %1").arg(unit)};
  PlotSeries line{tr("equal"), PlotSeries::Mark::dashed, colours.dim, {}};
  PlotSeries predicted_points{tr("predicted"), PlotSeries::Mark::dots, colours.accent, {}};
  PlotSeries fitted{tr("fitted to"), PlotSeries::Mark::rings, colours.accent, {}};
  double least = std::numeric_limits<double>::infinity(), greatest = 0;
  for (const ValidatedRow& row : table.rows) {
    const QString help = tr("%1\npublished %2 %4, predicted %3 %4, %5")
                             .arg(QString::fromStdString(row.name), text::number(row.published),
                                  text::number(row.predicted()), unit, text::signed_percent(row.error()));
    (row.fitted ? fitted : predicted_points)
        .points.push_back(
            {row.published, row.predicted(), row.width() > 0 ? row.low : 0, row.width() > 0 ? row.high : 0, help});
    least = std::min({least, row.published, row.predicted()});
    greatest = std::max({greatest, row.published, row.predicted()});
  }
  if (greatest > 0) line.points = {{least, least, 0, 0, {}}, {greatest, greatest, 0, 0, {}}};
  plot.series = {line, predicted_points, fitted};
  return plot;
}

}  // namespace rankscope::app
