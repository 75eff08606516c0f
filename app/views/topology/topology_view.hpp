// SPDX-License-Identifier: GPL-3.0-or-later
// The topology view: the cluster's devices, cards, nodes and switches, each coloured by the load of its uplink in one
// step of the plan, with the shades' scale; a table of the busiest, and if there is space one of all.
#pragma once
#include "app/session/figures.hpp"
#include "app/session/latest.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/elided_label.hpp"
#include "app/views/common/rows_table.hpp"
#include "app/views/topology/topology_picture.hpp"

namespace rankscope::app {

class TopologyView : public DataView {
  Q_OBJECT
 public:
  TopologyView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent = nullptr);

  bool settled() const override { return latest_.settled(); }
  const Topology& topology() const { return topology_; }
  TopologyLayout layout_now() const;

 protected:
  void arrange() override;
  ViewTable rows_shown() const override { return table_of(table_->rows()); }
  void paint(QPainter& painter) override;
  void on_show() override { refresh(); }
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  QString tip_at(QPoint at) const override;

 private:
  void refresh();
  void point_at(int level, int unit);
  QRectF area() const;
  Argb fill_of(double share) const;
  void paint_scale(QPainter& painter) const;
  void paint_links(QPainter& painter, const TopologyLayout& layout) const;
  void paint_boxes(QPainter& painter, const TopologyLayout& layout) const;

  FiguresModel& figures_;
  ElidedLabel* words_;
  RowsTable *table_, *units_;
  Topology topology_;
  double full_share_ = 1;  ///< its own
  std::pair<int, int> hovered_{-1, -1};
  std::pair<int, int> clicked_{-1, -1};
  Latest<Topology> latest_;
};

}  // namespace rankscope::app
