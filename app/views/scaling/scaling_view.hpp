// SPDX-License-Identifier: GPL-3.0-or-later
// The scaling view: measured points on predicted curves, for the current plan, for a recorded sweep, or for
// rows published by others. It also measures the plan itself: the engine runs a sweep in the background.
#pragma once
#include <QComboBox>
#include <QPushButton>
#include <array>

#include "app/session/engine_child.hpp"
#include "app/session/session.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/elided_label.hpp"
#include "app/views/common/rows_table.hpp"
#include "app/views/plot/plot_chart.hpp"
#include "app/views/scaling/scaling_curves.hpp"

namespace rankscope::app {

/// True for the recording of a sweep, which is not that of a run.
bool is_sweep_file(const QString& file);

class ScalingView : public DataView {
  Q_OBJECT
 public:
  ScalingView(SharedState& state, Session& session, QWidget* parent = nullptr);
  ~ScalingView() override;

  bool settled() const override {
    return !(stale_ && isVisible()) && latest_.settled() && tables_.settled() && !measuring();
  }
  /// A sweep's recording; the view shows its errors.
  void open_sweep(const QString& file);
  /// Of this plan: the key that grows, and how.
  void choose(const QString& key, Scaling scaling);
  /// Runs the plan on 1, 2, 4, … ranks; the result is a sweep.
  void measure();
  void stop_measuring();
  bool measuring() const { return engine_ != nullptr; }

  const ScalingCurves& curves() const { return curves_; }
  const RowsModel& rows() const { return table_->rows(); }
  /// The two charts, left to right.
  const std::array<PlotChart*, 2>& charts() const { return charts_; }

 signals:
  void log(const QString& words, bool bad);

 protected:
  void take_colours() override { show_plots(); }
  void arrange() override;
  ViewTable rows_shown() const override { return table_of(rows()); }
  void paint(QPainter& painter) override;
  void on_stay() override { refresh(); }

 private:
  enum class What : std::uint8_t { plan, sweep, published };
  void make_controls();
  void refresh();
  void renew();
  void fill_choices();
  void take_curves(ScalingCurves curves);
  void take_figures();
  void choose_file();
  void take_measured(bool ok, const QString& reason);
  int table_height();
  std::array<Plot, 2> plots() const;
  void show_plots();
  What what() const;

  Session& session_;
  QComboBox *what_, *key_, *how_;
  QPushButton *measure_, *open_;
  ElidedLabel *formula_, *source_;
  std::array<PlotChart*, 2> charts_;
  RowsTable* table_;
  ScalingCurves bare_, curves_;  ///< as they were computed, and with the point that ran
  QString costs_source_;         ///< the run of these costs; empty: the cluster's
  QString sweep_file_, measured_file_, progress_;
  std::vector<PublishedTable> published_;
  std::unique_ptr<EngineChild> engine_;
  Latest<ScalingCurves> latest_;
  Latest<std::vector<PublishedTable>> tables_;
  bool asked_for_tables_ = false, stale_ = true;
};

}  // namespace rankscope::app
