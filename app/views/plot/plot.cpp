// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/plot/plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/views/common/axis.hpp"

namespace rankscope::app {
namespace {

constexpr double bottom = 22, left = 64, right = 14;
constexpr double name_room = 22;  ///< of an axis' name
constexpr double hand = 12;       ///< largest distance of the pointer from a dot
constexpr double air = 0.06;      ///< between the outermost points and the frame, as a share

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
  const double top = (plot.title.isEmpty() ? 0 : plot_title_height) + plot_legend_height + 12;
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
  // On an axis of little more than a decade, ticks at 1, 2 and 5 are few: equal steps are used if they give more, or if
  // those were too many.
  if (fine.size() < 4 && high < 20 * low) {
    const std::vector<double> equal = round_ticks(low, high, std::clamp(most, 2, 6));
    if (equal.size() > fine.size() || (!equal.empty() && static_cast<int>(fine.size()) > most)) return equal;
  }
  return static_cast<int>(fine.size()) <= most || decades.size() < 2 ? fine : decades;
}

std::vector<double> shown_ticks(const PlotAxis& axis, double low, double high, int most) {
  if (axis.ticks.empty()) return ticks_of(low, high, axis.logarithmic, most);
  std::vector<double> within;
  for (const double tick : axis.ticks)
    if (tick >= low && tick <= high) within.push_back(tick);
  return within;
}

QString tick_words(const PlotAxis& axis, double tick) {
  return axis.words ? axis.words(tick) : QString::number(tick, 'g', 6);
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
