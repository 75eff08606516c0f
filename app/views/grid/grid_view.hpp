// SPDX-License-Identifier: GPL-3.0-or-later
// The data × tensor × pipeline grid, each rank coloured by a chosen quantity; its groups light up under the pointer.
#pragma once
#include <QComboBox>

#include "app/session/figures.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/grid/grid_picture.hpp"

namespace rankscope::app {

class GridView : public DataView {
  Q_OBJECT
 public:
  GridView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent = nullptr);
  /// Every quantity of every rank.
  ViewTable table() const override;
  GridQuantity quantity() const { return quantity_; }
  void set_quantity(GridQuantity quantity);
  /// The cells as painted now.
  GridLayout layout_now() const;

 protected:
  void on_veil() override;
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void paint_cells(QPainter& painter, const GridLayout& layout) const;
  QString describe(int rank) const;

  FiguresModel& figures_;
  QComboBox* quantities_;
  GridQuantity quantity_ = GridQuantity::compute;
  int hovered_ = -1;
};

}  // namespace rankscope::app
