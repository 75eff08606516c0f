// SPDX-License-Identifier: GPL-3.0-or-later
// The training view, over the steps: loss with the floor of the data's entropy, gradient norm, learning rate, loss
// scale, tokens per second, and the used share of the devices' peak, with and without recomputation.
#pragma once
#include <QGridLayout>
#include <QScrollArea>
#include <QTimer>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "app/session/figures.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/training/curve_chart.hpp"
#include "app/views/training/magnitude_chart.hpp"

namespace rankscope::app {

/// One chart each, in this order.
enum class Curve : std::uint8_t { loss, gradient_norm, learning_rate, loss_scale, tokens_per_s, mfu, power };
inline constexpr std::size_t curve_count = 7;

/// A step's figures; NaN if unknown.
struct TrainingRow {
  std::uint32_t step = 0;
  std::array<double, curve_count> values{};               ///< by Curve; shares in per cent, power in watts
  double hfu = std::numeric_limits<double>::quiet_NaN();  ///< per cent
  double operator[](Curve curve) const { return values[static_cast<std::size_t>(curve)]; }
  double& operator[](Curve curve) { return values[static_cast<std::size_t>(curve)]; }
};

/// By step; empty if nothing ran.
std::vector<TrainingRow> training_rows(const Figures& figures, const StoreView& view);

/// The number of charts in each line, at most `columns`: the lines differ by one at most; shorter lines, with wider
/// charts, are first.
std::vector<int> line_lengths(int charts, int columns);

class TrainingView : public DataView {
  Q_OBJECT
 public:
  TrainingView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent = nullptr);
  /// If nothing trained: why it cannot, as a sentence; empty: Run would train.
  void set_cannot_run(const QString& why);
  bool settled() const override { return !limit_.isActive() || !waiting_; }

  const CurveChart& chart(Curve curve) const { return *charts_[static_cast<std::size_t>(curve)]; }
  const MagnitudeChart& magnitudes() const { return *magnitudes_; }

 protected:
  void take_colours() override;
  void arrange() override;
  /// By step: all curves, and HFU.
  ViewTable rows_shown() const override;
  void paint(QPainter& painter) override;
  void on_show() override { refresh(); }

 private:
  CurveChart& of(Curve curve) { return *charts_[static_cast<std::size_t>(curve)]; }
  std::vector<TrainingRow> rows() const { return training_rows(*figures_.latest(), *source().view()); }
  void request();
  void refresh();
  void mark_step();
  /// Of the chosen step, or of the last one before it that counted them.
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
