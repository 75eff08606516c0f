// SPDX-License-Identifier: GPL-3.0-or-later
// A small chart as a value: curves and points over one axis, linear or logarithmic. Positions are plain
// arithmetic, so that they can be tested and used for tool tips. No widgets: plot_chart.hpp draws it.
#pragma once
#include <QPointF>
#include <QRectF>
#include <QString>
#include <functional>
#include <optional>
#include <vector>

#include "app/models/palette.hpp"

namespace rankscope::app {

struct PlotPoint {
  double x = 0, y = 0;
  double low = 0, high = 0;  ///< of a bar through the point; equal: none
  QString help{};            ///< the tool tip
  int key = -1;              ///< an identifier for the plot's owner
};

struct PlotSeries {
  enum class Mark : std::uint8_t { line, dashed, dots, rings };
  QString name;  ///< in the legend; empty: not listed
  Mark mark = Mark::line;
  Argb colour = 0;
  std::vector<PlotPoint> points;  ///< by x; those that are not finite are omitted
  double size = 8;                ///< of dots and rings, pixels
};

struct PlotAxis {
  bool logarithmic = false;
  std::optional<double> low, high;         ///< fixed ends, whatever the points are
  std::function<QString(double)> words{};  ///< a tick's label; empty: the number
  std::vector<double> ticks{};             ///< their positions, if within the ends; empty: round values
  QString name{};                          ///< the axis' quantity, with its unit; empty: in the title
};

struct Plot {
  QString title;
  PlotAxis x, y;
  std::vector<PlotSeries> series;
};

/// The positions in `area`: the inner rectangle, and from values to it.
struct PlotScale {
  QRectF inner;
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
  bool log_x = false, log_y = false;
  QPointF at(double x, double y) const;
};
PlotScale scale_of(const Plot& plot, const QRectF& area);

/// Of the lines over the inner rectangle; without a title its line is free.
inline constexpr int plot_title_height = 20, plot_legend_height = 20;

/// Round values within the axis' ends: 1, 2, 5, 10, … if it is logarithmic (only decades if these are too dense, equal
/// steps if it spans about a decade or less).
std::vector<double> ticks_of(double low, double high, bool logarithmic, int most);

/// The axis' own ticks, or round ones, within these ends; and the text of one.
std::vector<double> shown_ticks(const PlotAxis& axis, double low, double high, int most);
QString tick_words(const PlotAxis& axis, double tick);

/// The dot within some pixels of `at`; null if there is none.
const PlotPoint* point_near(const Plot& plot, const QRectF& area, QPointF at);

}  // namespace rankscope::app
