// SPDX-License-Identifier: GPL-3.0-or-later
// The roofline view: kinds of ops of the chosen step as points of FLOP per byte against FLOP/s, both logarithmic, under
// the roof of the machine. Dots are of the run, rings of the prediction.
#pragma once
#include <QComboBox>

#include "app/session/session.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/elided_label.hpp"
#include "app/views/common/rows_table.hpp"
#include "app/views/plot/plot_chart.hpp"
#include "app/views/roofline/roofline_model.hpp"

namespace rankscope::app {

class RooflineView : public DataView {
  Q_OBJECT
 public:
  RooflineView(SharedState& state, Session& session, QWidget* parent = nullptr);

  const RooflinePicture& picture() const { return picture_; }
  const PlotChart& chart() const { return *chart_; }
  const RowsModel& rows() const { return table_->rows(); }

 protected:
  void take_colours() override { show_picture(); }
  void arrange() override;
  void paint(QPainter& painter) override;
  void on_stay() override { refresh(); }
  ViewTable rows_shown() const override { return roofline_table(picture_); }

 private:
  void refresh();
  void show_picture();

  Session& session_;
  RooflinePicture picture_;
  QComboBox* roof_;
  ElidedLabel* words_;
  PlotChart* chart_;
  RowsTable* table_;
};

}  // namespace rankscope::app
