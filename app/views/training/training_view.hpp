// SPDX-License-Identifier: GPL-3.0-or-later
// The training view: loss with the floor of the data's entropy, gradient norm and tokens a second over the steps.
#pragma once
#include <QChartView>
#include <QLineSeries>
#include <QTimer>
#include <QValueAxis>
#include <array>

#include "app/session/figures.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/training/decimate.hpp"

namespace rankscope::app {

class TrainingView : public DataView {
  Q_OBJECT
 public:
  TrainingView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent = nullptr);
  void set_theme(Theme theme) override;
  bool settled() const override { return !limit_.isActive() || !waiting_; }

  enum Curve { loss, gradient_norm, tokens_per_s, curve_count };
  /// The points drawn now.
  QList<QPointF> points(Curve curve) const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  struct Panel {
    QChartView* view = nullptr;
    QLineSeries* line = nullptr;
    QLineSeries* floor = nullptr;   ///< of the loss alone
    QLineSeries* marker = nullptr;  ///< the chosen step
    QValueAxis* steps = nullptr;
    QValueAxis* values = nullptr;
  };

  Panel make_panel(const QString& title, Curve curve);
  void colour(Panel& panel, Curve curve);
  void request();
  void refresh();
  void draw(Panel& panel, const std::vector<CurvePoint>& points, double floor);
  void mark_step();

  FiguresModel& figures_;
  std::array<Panel, curve_count> panels_{};
  QTimer limit_;  ///< at most five updates a second
  bool waiting_ = false, empty_ = true;
};

}  // namespace rankscope::app
