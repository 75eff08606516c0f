// SPDX-License-Identifier: GPL-3.0-or-later
// The training view: over the steps the loss with the floor of the data's entropy, gradient norm, learning rate, tokens
// a second, and the share of the devices' peak that is used, with recomputation and without.
#pragma once
#include <QChartView>
#include <QGridLayout>
#include <QLineSeries>
#include <QTimer>
#include <QValueAxis>
#include <array>
#include <limits>

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

  enum Curve { loss, gradient_norm, learning_rate, tokens_per_s, mfu, curve_count };
  /// By step: all curves, and HFU.
  ViewTable table() const override;
  /// The points drawn now.
  QList<QPointF> points(Curve curve) const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void on_veil() override { arrange(); }

 private:
  struct Panel {
    QChartView* view = nullptr;
    QLineSeries* line = nullptr;
    QLineSeries* floor = nullptr;   ///< of the loss alone
    QLineSeries* second = nullptr;  ///< HFU beside MFU
    QLineSeries* marker = nullptr;  ///< the chosen step
    QValueAxis* steps = nullptr;
    QValueAxis* values = nullptr;
  };

  /// One step's figures; NaN where they are not known.
  struct Row {
    std::uint32_t step = 0;
    std::array<double, curve_count> values{};
    double hfu = std::numeric_limits<double>::quiet_NaN();
  };
  std::vector<Row> rows_now() const;
  void arrange();
  Panel make_panel(const QString& title, Curve curve);
  void colour(Panel& panel, Curve curve);
  void request();
  void refresh();
  void draw(Curve curve, const std::vector<CurvePoint>& points, double floor);
  void mark_step();

  FiguresModel& figures_;
  QGridLayout* layout_;
  std::array<Panel, curve_count> panels_{};
  QTimer limit_;  ///< at most five updates a second
  bool waiting_ = false, empty_ = true;
};

}  // namespace rankscope::app
