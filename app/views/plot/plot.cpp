// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/plot/plot.hpp"

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "app/views/common/axis.hpp"
#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

constexpr double title_height = 20, legend_height = 20, bottom = 22, left = 64, right = 14;
constexpr double name_room = 18;      ///< of an axis' name
constexpr double dot = 4, hand = 12;  ///< radius of a dot, and how near the pointer must come
constexpr double air = 0.06;          ///< between the outermost points and the frame, as a share

bool usable(double value, bool logarithmic) { return std::isfinite(value) && (!logarithmic || value > 0); }

struct Ends {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void take(double value, bool logarithmic) {
    if (!usable(value, logarithmic)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

Ends with_air(Ends ends, const PlotAxis& axis) {
  if (!(ends.high >= ends.low)) ends = {1, 2};
  if (axis.logarithmic) {
    const double factor = std::pow(std::max(ends.high / ends.low, 1.5), air);
    ends = {ends.low / factor, ends.high * factor};
  } else {
    const double width = std::max(ends.high - ends.low, 1e-12 + std::fabs(ends.high) * 1e-3);
    ends = {ends.low - width * air, ends.high + width * air};
  }
  return {axis.low.value_or(ends.low), axis.high.value_or(ends.high)};
}

double share(double value, double low, double high, bool logarithmic) {
  return logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
}

QString words_of(const PlotAxis& axis, double value) {
  return axis.words ? axis.words(value) : QString::number(value, 'g', 6);
}

void paint_frame(QPainter& painter, const PlotScale& scale, const Palette& colours, const Plot& plot) {
  const QFontMetricsF metrics(painter.font());
  const QRectF& inner = scale.inner;
  const auto ticks_on = [](const PlotAxis& axis, double low, double high, double room, double each) {
    if (axis.ticks.empty()) return ticks_of(low, high, axis.logarithmic, std::max(2, static_cast<int>(room / each)));
    std::vector<double> within;
    for (const double tick : axis.ticks)
      if (tick >= low && tick <= high) within.push_back(tick);
    return within;
  };
  double free_above = 1e9;
  for (const double value : ticks_on(plot.y, scale.y_low, scale.y_high, inner.height(), 36)) {
    const double y = scale.at(scale.x_low, value).y();
    painter.setPen(QPen(color(colours.line), 1));
    painter.drawLine(QPointF(inner.left(), y), QPointF(inner.right(), y));
    if (y + metrics.height() / 2 > free_above) continue;  // labels yield
    painter.setPen(color(colours.dim));
    painter.drawText(QRectF(inner.left() - left, y - 9, left - 6, 18), Qt::AlignRight | Qt::AlignVCenter,
                     words_of(plot.y, value));
    free_above = y - metrics.height() / 2;
  }
  double free_from = inner.left() - 1e9;
  for (const double value : ticks_on(plot.x, scale.x_low, scale.x_high, inner.width(), 56)) {
    const double x = scale.at(value, scale.y_low).x();
    const QString words = words_of(plot.x, value);
    const double half = metrics.horizontalAdvance(words) / 2;
    painter.setPen(QPen(color(colours.line), 1));
    painter.drawLine(QPointF(x, inner.bottom()), QPointF(x, inner.bottom() + 4));
    if (x - half < free_from) continue;  // labels yield
    painter.setPen(color(colours.dim));
    painter.drawText(QRectF(x - half - 2, inner.bottom() + 4, 2 * half + 4, 18), Qt::AlignCenter, words);
    free_from = x + half + 6;
  }
  painter.setPen(color(colours.dim));
  if (!plot.x.name.isEmpty())
    painter.drawText(QRectF(inner.left(), inner.bottom() + bottom - 1, inner.width(), name_room), Qt::AlignCenter,
                     metrics.elidedText(plot.x.name, Qt::ElideRight, inner.width()));
  if (plot.y.name.isEmpty()) return;
  painter.save();
  painter.translate(inner.left() - left - name_room, inner.bottom());
  painter.rotate(-90);
  painter.drawText(QRectF(0, 0, inner.height(), name_room), Qt::AlignCenter,
                   metrics.elidedText(plot.y.name, Qt::ElideRight, inner.height()));
  painter.restore();
}

void paint_series(QPainter& painter, const PlotScale& scale, const Palette& colours, const PlotSeries& series) {
  using Mark = PlotSeries::Mark;
  QPainterPath path;
  bool begun = false;
  painter.setBrush(Qt::NoBrush);
  for (const PlotPoint& point : series.points) {
    if (!usable(point.x, scale.log_x) || !usable(point.y, scale.log_y)) continue;
    const QPointF at = scale.at(point.x, point.y);
    if (series.mark == Mark::line || series.mark == Mark::dashed) {
      if (begun)
        path.lineTo(at);
      else
        path.moveTo(at);
      begun = true;
      continue;
    }
    painter.setPen(QPen(color(series.colour), 1.5));
    if (point.high > point.low && usable(point.low, scale.log_y))
      painter.drawLine(scale.at(point.x, point.low), scale.at(point.x, point.high));
    painter.setBrush(color(series.mark == Mark::dots ? series.colour : colours.ground));
    painter.drawEllipse(at, dot, dot);
    painter.setBrush(Qt::NoBrush);
  }
  if (begun) {
    painter.setPen(QPen(color(series.colour), 1.5, series.mark == Mark::dashed ? Qt::DashLine : Qt::SolidLine));
    painter.drawPath(path);
  }
}

void paint_names(QPainter& painter, const QRectF& area, const Palette& colours, const Plot& plot) {
  const QFontMetricsF metrics(painter.font());
  double x = area.left();
  for (const PlotSeries& series : plot.series) {
    if (series.points.empty() || series.name.isEmpty()) continue;
    const double width = 22 + metrics.horizontalAdvance(series.name);
    if (x + width > area.right()) break;
    const QPointF middle(x + 8, area.center().y());
    painter.setPen(
        QPen(color(series.colour), 1.5, series.mark == PlotSeries::Mark::dashed ? Qt::DashLine : Qt::SolidLine));
    if (series.mark == PlotSeries::Mark::line || series.mark == PlotSeries::Mark::dashed) {
      painter.drawLine(middle - QPointF(8, 0), middle + QPointF(8, 0));
    } else {
      painter.setBrush(color(series.mark == PlotSeries::Mark::dots ? series.colour : colours.ground));
      painter.drawEllipse(middle, dot, dot);
      painter.setBrush(Qt::NoBrush);
    }
    painter.setPen(color(colours.dim));
    painter.drawText(QRectF(x + 20, area.top(), width, area.height()), Qt::AlignLeft | Qt::AlignVCenter, series.name);
    x += width + 14;
  }
}

}  // namespace

QPointF PlotScale::at(double x, double y) const {
  return {inner.left() + inner.width() * share(x, x_low, x_high, log_x),
          inner.bottom() - inner.height() * share(y, y_low, y_high, log_y)};
}

PlotScale scale_of(const Plot& plot, const QRectF& area) {
  Ends x, y;
  for (const PlotSeries& series : plot.series)
    for (const PlotPoint& point : series.points) {
      if (!usable(point.x, plot.x.logarithmic) || !usable(point.y, plot.y.logarithmic)) continue;
      x.take(point.x, plot.x.logarithmic);
      y.take(point.y, plot.y.logarithmic);
      if (point.high > point.low) {
        y.take(point.low, plot.y.logarithmic);
        y.take(point.high, plot.y.logarithmic);
      }
    }
  x = with_air(x, plot.x);
  y = with_air(y, plot.y);
  const double top = (plot.title.isEmpty() ? 0 : title_height) + legend_height + 12;
  const double before = left + (plot.y.name.isEmpty() ? 0 : name_room);
  const double below = bottom + (plot.x.name.isEmpty() ? 0 : name_room);
  const QRectF inner(area.left() + before, area.top() + top, std::max(20.0, area.width() - before - right),
                     std::max(20.0, area.height() - top - below));
  return {inner, x.low, x.high, y.low, y.high, plot.x.logarithmic, plot.y.logarithmic};
}

std::vector<double> ticks_of(double low, double high, bool logarithmic, int most) {
  if (!logarithmic) return round_ticks(low, high, most);
  std::vector<double> fine, decades;
  if (!(low > 0) || !(high > low)) return fine;
  const auto first = static_cast<int>(std::floor(std::log10(low)));
  const auto last = static_cast<int>(std::ceil(std::log10(high)));
  for (int power = first; power <= last; ++power)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10.0, power);
      if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
      fine.push_back(value);
      if (factor == 1.0) decades.push_back(value);
    }
  // A few of 1, 2, 5 say little of an axis of less than a decade: equal steps do, if they do not crowd at its end.
  if (fine.size() < 4 && high < 20 * low) {
    const std::vector<double> equal = round_ticks(low, high, std::clamp(most, 2, 6));
    if (equal.size() > fine.size() || (!equal.empty() && static_cast<int>(fine.size()) > most)) return equal;
  }
  return static_cast<int>(fine.size()) <= most || decades.size() < 2 ? fine : decades;
}

void paint_plot(QPainter& painter, const QRectF& area, const Palette& colours, const Plot& plot) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(interface_font());
  const PlotScale scale = scale_of(plot, area);
  double y = area.top();
  if (!plot.title.isEmpty()) {
    painter.setPen(color(colours.text));
    painter.drawText(QRectF(area.left() + 8, y, area.width() - 8, title_height), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(painter.font()).elidedText(plot.title, Qt::ElideRight, area.width() - 16));
    y += title_height;
  }
  paint_names(painter, QRectF(area.left() + 8, y, area.width() - 8, legend_height), colours, plot);
  painter.setFont(number_font());
  paint_frame(painter, scale, colours, plot);
  for (const PlotSeries& series : plot.series) paint_series(painter, scale, colours, series);
  painter.restore();
}

const PlotPoint* point_near(const Plot& plot, const QRectF& area, QPointF at) {
  const PlotScale scale = scale_of(plot, area);
  const PlotPoint* nearest = nullptr;
  double least = hand;
  for (const PlotSeries& series : plot.series)
    for (const PlotPoint& point : series.points) {
      if (point.help.isEmpty() || !usable(point.x, scale.log_x) || !usable(point.y, scale.log_y)) continue;
      const QPointF by = scale.at(point.x, point.y) - at;
      const double distance = std::hypot(by.x(), by.y());
      if (distance >= least) continue;
      least = distance;
      nearest = &point;
    }
  return nearest;
}

}  // namespace rankscope::app
