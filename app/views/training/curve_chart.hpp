// SPDX-License-Identifier: GPL-3.0-or-later
// One curve over the steps as a Qt chart, with a title, a subtitle, and a mark at the chosen step. A second curve or
// a level may be drawn under it, dashed.
#pragma once
#include <QCategoryAxis>
#include <QChart>
#include <QChartView>
#include <QLabel>
#include <QLineSeries>
#include <QPen>
#include <QValueAxis>
#include <optional>
#include <vector>

#include "app/models/palette.hpp"

namespace rankscope::app {

struct CurvePoint {
  double x = 0, y = 0;
  bool operator==(const CurvePoint&) const = default;
};

/// The least and the greatest y of each of `pixels` equal ranges of x, in their order. A y that is not finite is
/// unknown: a range with only such points becomes one of them; in other ranges they are omitted. `points` are
/// sorted by x. Unchanged if there are no more than two per pixel.
std::vector<CurvePoint> decimated(const std::vector<CurvePoint>& points, int pixels);

/// A line with gaps at unknown values: it consists of several series with the same style.
class BrokenLine {
 public:
  /// `chart` owns the series; `across` and `upright` are its axes.
  BrokenLine(QChart& chart, QAbstractAxis& across, QAbstractAxis& upright);
  void set_pen(const QPen& pen);
  /// A point whose y is not finite breaks the line; a point between two such points is a dot.
  void show(const std::vector<CurvePoint>& points);
  /// The pieces drawn now, each of one point or more.
  QList<QList<QPointF>> pieces() const;

 private:
  QChart& chart_;
  QAbstractAxis &across_, &upright_;
  QPen pen_;
  std::vector<QLineSeries*> series_;  ///< those after the last piece are empty
};

/// The content of a chart.
struct CurveData {
  double first = 0, last = 1;      ///< the range of steps of all charts, also if this one has fewer
  std::vector<CurvePoint> points;  ///< by x, which are steps; the curve breaks where y is not finite
  std::vector<CurvePoint> dashed;  ///< the same of the curve under it; empty: none
  std::optional<double> level;     ///< a dashed line over all steps
  QString note;                    ///< under the title
};

class CurveChart : public QWidget {
  Q_OBJECT
 public:
  /// `from_zero`: the axis begins at zero, so that a change of a tenth looks like a tenth.
  CurveChart(const QString& title, bool from_zero, QWidget* parent);
  void set_colours(const Palette& colours, Argb line, Argb dashed);
  void show_data(const CurveData& shown);
  /// Replaces the title.
  void set_title(const QString& title);
  QString title() const { return title_->text(); }
  /// At that step; nullopt: none.
  void mark_step(std::optional<double> step);
  /// Whether it has a curve.
  bool filled() const { return !line_.pieces().isEmpty(); }
  /// The points drawn now: in pieces, with gaps at unknown values, and all together.
  QList<QList<QPointF>> pieces() const { return line_.pieces(); }
  QList<QPointF> points() const;
  QString note() const { return data_.note; }
  /// The labels of the vertical axis, from bottom to top.
  QStringList value_labels() const { return values_->categoriesLabels(); }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void draw();
  void tick();  ///< as many ticks as fit

  bool from_zero_;
  CurveData data_;
  std::optional<double> step_;
  QChartView* view_;
  QLabel *title_, *note_;
  QLineSeries* marker_;
  QValueAxis* steps_;
  QCategoryAxis* values_;  ///< for labels with our own text
  BrokenLine dashed_, line_;
};

}  // namespace rankscope::app
