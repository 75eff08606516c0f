// SPDX-License-Identifier: GPL-3.0-or-later
// The range view: how every rank spends the chosen range of time, as measured, as predicted for the same ops and as in
// the textbook; and the causes of the gap to the prediction.
#pragma once
#include <QLabel>

#include "app/session/figures.hpp"
#include "app/session/latest.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/rows_table.hpp"
#include "app/views/range/range_rows.hpp"

namespace rankscope::app {

class RangeView : public DataView {
  Q_OBJECT
 public:
  RangeView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent = nullptr);
  bool settled() const override { return latest_.settled(); }
  const RangePicture& picture() const { return picture_; }
  const RowsModel& shares() const { return shares_->rows(); }
  const RowsModel& gap() const { return gap_->rows(); }

 protected:
  void arrange() override;
  ViewTable rows_shown() const override;
  void paint(QPainter& painter) override;
  void on_show() override { refresh(); }

 private:
  void refresh();

  FiguresModel& figures_;
  RangePicture picture_;
  QLabel *title_, *words_;
  RowsTable *shares_, *gap_;
  Latest<RangePicture> latest_;
};

}  // namespace rankscope::app
