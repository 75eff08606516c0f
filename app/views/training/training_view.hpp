// SPDX-License-Identifier: GPL-3.0-or-later
// The training view: over the steps the loss with the floor of the data's entropy, gradient norm, learning rate, loss
// scale, tokens a second, and the share of the devices' peak that is used, with recomputation and without.
#pragma once
#include <QGridLayout>
#include <QScrollArea>
#include <QTimer>
#include <array>
#include <vector>

#include "app/views/common/data_view.hpp"
#include "app/views/training/curve_chart.hpp"
#include "app/views/training/magnitude_chart.hpp"
#include "app/views/training/training_rows.hpp"

namespace rankscope::app {

/// The number of charts in each line, at most `columns`: the lines differ by one at most; shorter lines, with wider
/// charts, come first.
std::vector<int> line_lengths(int charts, int columns);

class TrainingView : public DataView {
  Q_OBJECT
 public:
  TrainingView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent = nullptr);
  void set_theme(Theme theme) override;
  /// While nothing trained: why it cannot, as a sentence; empty: Run would.
  void set_cannot_run(const QString& why);
  bool settled() const override { return !limit_.isActive() || !waiting_; }

  const CurveChart& chart(Curve curve) const { return *charts_[static_cast<std::size_t>(curve)]; }
  const MagnitudeChart& magnitudes() const { return *magnitudes_; }

 protected:
  void arrange() override;
  /// By step: all curves, and HFU.
  ViewTable rows_shown() const override;
  void paint(QPainter& painter) override;
  void showEvent(QShowEvent* event) override;

 private:
  CurveChart& of(Curve curve) { return *charts_[static_cast<std::size_t>(curve)]; }
  std::vector<TrainingRow> rows() const { return training_rows(*figures_.latest(), *source().view()); }
  void request();
  void refresh();
  void mark_step();
  /// Of the chosen step, or of the last one before it that has counted them.
  void show_magnitudes();

  FiguresModel& figures_;
  QScrollArea* scroll_;
  QGridLayout* layout_;
  std::array<CurveChart*, curve_count> charts_{};
  MagnitudeChart* magnitudes_;
  QTimer limit_;  ///< at most five updates a second
  bool waiting_ = false;
  QString cannot_run_;
};

}  // namespace rankscope::app
