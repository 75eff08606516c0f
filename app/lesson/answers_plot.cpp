// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/answers_plot.hpp"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr int row_height = 36, least_height = 110, head = 18, foot = 22, shown_bars = 8;

QString with_unit(double value, const QString& unit) {
  return unit.isEmpty() ? text::number(value) : text::number(value) + QChar(0xA0) + unit;
}

}  // namespace

AnswersPlot::AnswersPlot(QWidget* parent) : PaintedWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
}

void AnswersPlot::set_distribution(Distribution distribution) {
  shown_ = std::move(distribution);
  setAccessibleName(words_of(shown_));
  updateGeometry();
  update();
}

QSize AnswersPlot::minimumSizeHint() const {
  const int bars = std::min<int>(static_cast<int>(shown_.counted.size()), shown_bars);
  return {160, std::max(least_height, bars * row_height + 4)};
}

QSize AnswersPlot::sizeHint() const { return {240, minimumSizeHint().height()}; }

int AnswersPlot::most_bars() const { return std::max(1, (height() - 4) / row_height); }

void AnswersPlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(interface_font());
  if (shown_.answers == 0) {
    draw_text(painter, rect(), Qt::AlignLeft | Qt::AlignTop, tr("nobody has answered yet"), colours().dim);
    return;
  }
  painter.setRenderHint(QPainter::Antialiasing);
  switch (shown_.kind) {
    case QuestionKind::number: return paint_bins(painter);
    case QuestionKind::draw: return paint_spread(painter);
    case QuestionKind::choice:
    case QuestionKind::order:
    case QuestionKind::point: return paint_bars(painter);
  }
}

// The right answer has a solid line, a mistake a dashed one: the difference is not only in colour.
void AnswersPlot::paint_bins(QPainter& painter) const {
  painter.setFont(number_font());
  const Bins& bins = shown_.bins;
  const QRectF inner(2, head, width() - 4, height() - head - foot);
  const int most = std::max(1, *std::max_element(bins.counts.begin(), bins.counts.end()));
  const double each = inner.width() / static_cast<double>(bins.counts.size());
  for (std::size_t i = 0; i < bins.counts.size(); ++i) {
    const double high = inner.height() * bins.counts[i] / most;
    const QRectF bar(inner.left() + static_cast<double>(i) * each + 1, inner.bottom() - high, each - 2, high);
    painter.fillRect(bar, color(colours().accent));
    if (bins.counts[i] == 0 || high < 16) continue;
    draw_text(painter, bar, Qt::AlignHCenter | Qt::AlignTop, QString::number(bins.counts[i]),
              colours().ink_on(colours().accent));
  }
  painter.setPen(QPen(color(colours().line), 1));
  painter.drawLine(inner.bottomLeft(), inner.bottomRight());
  const auto mark = [&](double value, const QPen& pen) {
    if (value < bins.low || value > bins.high) return;
    const double x = inner.left() + inner.width() * (value - bins.low) / (bins.high - bins.low);
    painter.setPen(pen);
    painter.drawLine(QPointF(x, inner.top()), QPointF(x, inner.bottom() + 3));
  };
  for (const double mistake : shown_.mistakes) mark(mistake, QPen(color(colours().bad), 2, Qt::DashLine));
  if (shown_.truth) mark(*shown_.truth, QPen(color(colours().good), 3));
  painter.setPen(color(colours().dim));
  const QRectF below(inner.left(), inner.bottom() + 2, inner.width(), foot - 4);
  painter.drawText(below, Qt::AlignLeft, with_unit(bins.low, shown_.unit));
  painter.drawText(below, Qt::AlignRight, with_unit(bins.high, shown_.unit));
  painter.setFont(interface_font());
  const QRectF above(inner.left(), 0, inner.width(), head - 2);
  if (shown_.truth)
    painter.drawText(above, Qt::AlignLeft,
                     (shown_.mistakes.empty() ? tr("line: right, %1") : tr("line: right, %1; dashed: usual mistakes"))
                         .arg(with_unit(*shown_.truth, shown_.unit)));
}

void AnswersPlot::paint_bars(QPainter& painter) const {
  const int rows = std::min<int>(static_cast<int>(shown_.counted.size()), most_bars());
  int most = 1;
  for (const CountedAnswer& one : shown_.counted) most = std::max(most, one.count);
  for (int i = 0; i < rows; ++i) {
    const CountedAnswer& one = shown_.counted[static_cast<std::size_t>(i)];
    const QRectF words(2, i * row_height + 2, width() - 4, 16);
    const QString mark = !one.right ? QString() : *one.right ? QStringLiteral("\u2713 ") : QStringLiteral("\u2717 ");
    draw_line(painter, words, at_left, mark + one.words, colours().text);
    const double room = width() - 44.0, wide = room * one.count / most;
    const Argb fill = !one.right ? colours().accent : *one.right ? colours().good : colours().bad;
    const QRectF bar(2, words.bottom() + 1, wide, 12);
    painter.fillRect(bar, color(fill));
    draw_text(painter, QRectF(bar.right() + 6, bar.top() - 2, 36, 16), at_left, QString::number(one.count),
              colours().dim);
  }
  const int left = static_cast<int>(shown_.counted.size()) - rows;
  if (left <= 0) return;
  draw_text(painter, rect().adjusted(0, 0, -4, 0), Qt::AlignRight | Qt::AlignBottom, tr("%1 other answers").arg(left),
            colours().dim);
}

void AnswersPlot::paint_spread(QPainter& painter) const {
  const QRectF area(4, head, width() - 8, height() - head - foot);
  const double count = static_cast<double>(shown_.spread.size()), top = shown_.most > 0 ? shown_.most : 1;
  const auto at = [&](std::size_t i, double value) {
    return QPointF(area.left() + area.width() * (static_cast<double>(i) + 0.5) / count,
                   area.bottom() - area.height() * std::clamp(value / top, 0.0, 1.0));
  };
  painter.fillRect(area, color(colours().ground));
  painter.setPen(QPen(color(colours().line), 1));
  painter.drawRect(area);
  const bool bars = shown_.spread.size() <= 32;
  const double wide = area.width() / count * 0.6;
  QPainterPath median, low, truth;
  QPolygonF band;
  for (std::size_t i = 0; i < shown_.spread.size(); ++i) {
    const Quartiles& here = shown_.spread[i];
    const QPointF middle = at(i, here.median), upper = at(i, here.high), lower = at(i, here.low);
    if (bars) {
      painter.fillRect(QRectF(middle.x() - wide / 2, upper.y(), wide, std::max(1.0, lower.y() - upper.y())),
                       faded(colours().accent, 0.4));
      painter.setPen(QPen(color(colours().accent), 3));
      painter.drawLine(middle - QPointF(wide / 2, 0), middle + QPointF(wide / 2, 0));
    }
    i == 0 ? median.moveTo(middle) : median.lineTo(middle);
    band << upper;
    if (i >= shown_.true_series.size() || !std::isfinite(shown_.true_series[i])) continue;
    const QPointF right = at(i, shown_.true_series[i]);
    if (bars) {
      painter.setPen(QPen(color(colours().good), 2, Qt::DashLine));
      painter.drawLine(right - QPointF(wide * 0.8, 0), right + QPointF(wide * 0.8, 0));
    }
    truth.isEmpty() ? truth.moveTo(right) : truth.lineTo(right);
  }
  if (!bars) {
    for (std::size_t i = shown_.spread.size(); i-- > 0;) band << at(i, shown_.spread[i].low);
    painter.setPen(Qt::NoPen);
    painter.setBrush(faded(colours().accent, 0.3));
    painter.drawPolygon(band);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color(colours().accent), 2));
    painter.drawPath(median);
    painter.setPen(QPen(color(colours().good), 2, Qt::DashLine));
    painter.drawPath(truth);
  }
  painter.setPen(color(colours().dim));
  const QRectF above(area.left(), 0, area.width(), head - 2), below(area.left(), area.bottom() + 3, area.width(), 16);
  painter.drawText(above, Qt::AlignLeft, with_unit(top, shown_.unit));
  const QString legend = shown_.true_series.empty() ? tr("line: median, box: half of the class")
                                                    : tr("line: median, box: half of the class, dashed: right");
  const double room = area.width() - QFontMetricsF(painter.font()).horizontalAdvance(with_unit(top, shown_.unit)) - 8;
  painter.drawText(above, Qt::AlignRight, QFontMetricsF(painter.font()).elidedText(legend, Qt::ElideRight, room));
  painter.drawText(below, Qt::AlignLeft, shown_.by_step ? tr("step 0") : tr("rank 0"));
  painter.drawText(below, Qt::AlignRight, QString::number(shown_.spread.size() - 1));
}

QString AnswersPlot::tip_at(QPoint at) const {
  if (shown_.answers == 0) return {};
  if (!shown_.counted.empty()) {
    const int row = at.y() / row_height;
    if (row >= std::min<int>(static_cast<int>(shown_.counted.size()), most_bars())) return {};
    const CountedAnswer& one = shown_.counted[static_cast<std::size_t>(row)];
    const QString words = tr("%1: %2").arg(one.words).arg(one.count);
    return QStringLiteral("<qt>") + (one.because.isEmpty() ? words : words + QLatin1Char('\n') + one.because)
                                        .toHtmlEscaped()
                                        .replace(QLatin1Char('\n'), QStringLiteral("<br>"));
  }
  if (shown_.kind != QuestionKind::draw || shown_.spread.empty()) return {};
  const double share = std::clamp((at.x() - 4.0) / std::max(1.0, width() - 8.0), 0.0, 0.999);
  const auto i = static_cast<std::size_t>(share * static_cast<double>(shown_.spread.size()));
  const Quartiles& here = shown_.spread[i];
  QString words = tr("%1 %2: median %3, quartiles %4 and %5")
                      .arg(shown_.by_step ? tr("step") : tr("rank"))
                      .arg(i)
                      .arg(with_unit(here.median, shown_.unit), with_unit(here.low, shown_.unit),
                           with_unit(here.high, shown_.unit));
  if (i < shown_.true_series.size() && std::isfinite(shown_.true_series[i]))
    words += tr("; right: %1").arg(with_unit(shown_.true_series[i], shown_.unit));
  return words;
}

}  // namespace rankscope::app
