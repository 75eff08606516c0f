// SPDX-License-Identifier: GPL-3.0-or-later
// The cluster's links with what a plan puts on them, as values: which unit carries how much, and where its box stands.
// No widgets.
#pragma once
#include <QRectF>
#include <QString>
#include <memory>
#include <vector>

#include "app/views/common/rows_model.hpp"
#include "engine/facts/facts.hpp"
#include "engine/simulate/link_load.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope::app {

struct TopologyRequest {
  std::shared_ptr<const RunContext> context;  ///< null: nothing can be told
  std::vector<StepSummary> summaries;         ///< of a run's step; empty: predicted bytes
  double step_seconds = 0;
};

struct Topology {
  QString failure;  ///< why there is none; empty: there is
  QString cluster;
  int ranks = 0;
  double step_seconds = 0;
  bool counted = false;  ///< bytes were counted at the transport, as far as it could tell; else predicted
  std::vector<NetworkLevel> levels;
  std::vector<std::vector<LinkLoad>> loads;  ///< [level][unit]
  double share(std::size_t level, std::size_t unit) const {
    return utilisation(loads[level][unit], levels[level], step_seconds);
  }
  double greatest_share() const;
};

/// Slow for many ops: for worker threads.
Topology topology_of(const TopologyRequest& request);

/// `flows` with each sender's bytes of a purpose scaled to what it has counted. True where anything was counted.
bool scale_to_counted(std::vector<Flow>& flows, const std::vector<StepSummary>& summaries);

/// Devices at the bottom, in the order of ranks; above them the units that hold them, each as wide as its devices.
struct TopologyLayout {
  std::vector<std::vector<QRectF>> boxes;  ///< [level][unit]
  QRectF network;                          ///< what joins the largest units; empty where one unit holds all
  /// Level and unit at a point; level -1 outside of all.
  std::pair<int, int> at(QPointF point) const;
};
TopologyLayout lay_out_topology(const Topology& topology, const QRectF& area);

/// "node 3: ranks 24 to 31".
QString name_of(const Topology& topology, std::size_t level, std::size_t unit);
QString describe(const Topology& topology, std::size_t level, std::size_t unit);

QStringList topology_titles();
/// One row a level: its units, their way out, the busiest of them and what it carries.
std::vector<std::vector<Cell>> topology_rows(const Topology& topology);

}  // namespace rankscope::app
