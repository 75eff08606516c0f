// SPDX-License-Identifier: GPL-3.0-or-later
// The collectives view: the traffic table under the chosen step.
#pragma once
#include <QTableView>

#include "app/session/figures.hpp"
#include "app/session/latest.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/traffic/traffic_table.hpp"

namespace rankscope::app {

class TrafficView : public DataView {
  Q_OBJECT
 public:
  TrafficView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent = nullptr);
  bool settled() const override { return latest_.settled(); }
  const TrafficModel& model() const { return model_; }

 protected:
  void on_veil() override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void refresh();

  FiguresModel& figures_;
  TrafficModel model_;
  QTableView* table_;
  Latest<std::vector<TrafficLine>> latest_;
};

}  // namespace rankscope::app
