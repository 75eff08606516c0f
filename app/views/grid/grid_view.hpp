// SPDX-License-Identifier: GPL-3.0-or-later
// The data × tensor × pipeline grid, each rank coloured by a chosen quantity, with the colours' scale; its groups are
// highlighted under the pointer. Below it, if there is space, all ranks in the order of that quantity.
#pragma once
#include <QComboBox>

#include "app/session/figures.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/rows_table.hpp"
#include "app/views/grid/grid_picture.hpp"

namespace rankscope::app {

class GridView : public DataView {
  Q_OBJECT
 public:
  GridView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent = nullptr);
  GridQuantity quantity() const { return quantity_; }
  void set_quantity(GridQuantity quantity);
  /// The cells as painted now, of the shown grid.
  GridLayout layout_now() const;
  /// The ranks that they represent.
  const GridFold& fold_now() const { return fold_; }
  const RowsModel& ranking() const { return ranking_->rows(); }

 protected:
  void arrange() override;
  /// Every quantity of every rank.
  ViewTable rows_shown() const override;
  void paint(QPainter& painter) override;
  void on_show() override { take(); }
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  QString tip_at(QPoint at) const override;

 private:
  void take();
  void fit_columns();
  void paint_scale(QPainter& painter) const;
  void paint_cells(QPainter& painter, const GridLayout& layout) const;
  Argb fill_of(double share) const;
  QString describe(int cell) const;
  /// The text instead of cells, if the quantity is not known rank by rank.
  QString why_unknown() const;

  FiguresModel& figures_;
  QComboBox* quantities_;
  RowsTable* ranking_;
  GridFold fold_;
  std::vector<double> values_;  ///< [cell], of the chosen quantity
  std::vector<int> ranked_;     ///< [row of the ranking]
  int cells_height_ = 0;
  GridQuantity quantity_ = GridQuantity::compute;
  bool chosen_ = false;  ///< the user chose the quantity; else it is the memory for a folded plan, which is known
  int hovered_ = -1;     ///< cell
};

}  // namespace rankscope::app
