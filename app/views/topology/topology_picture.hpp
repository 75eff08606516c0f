// SPDX-License-Identifier: GPL-3.0-or-later
// The load of a plan on the cluster's links, as values: the bytes of each unit's uplink, and the position of its box.
// No widgets.
#pragma once
#include <QRectF>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "app/views/common/rows_model.hpp"
#include "engine/explain/analyse/report.hpp"
#include "engine/explain/facts/facts.hpp"
#include "engine/predict/network/link_load.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope::app {

struct TopologyRequest {
  std::shared_ptr<const RunContext> context;  ///< null: one rank of each stage is made from `scenario`
  std::vector<LinkReport> links;              ///< of a run, or of a prediction; counted ones have priority
  std::vector<StepSummary> summaries;         ///< of a run's step: for runs that report no links
  double step_seconds = 0;
  std::shared_ptr<const RunTotals> totals;  ///< of all its steps: kept when a step's summaries were deleted
  std::optional<Scenario> scenario{};       ///< without a context; neither: nothing is known
};

/// The source of the bytes on the links, the best first.
enum class LoadSource : std::uint8_t {
  links,    ///< counted at the senders, by receiver
  senders,  ///< counted at the senders; receivers by the plan, collectives as rings
  mean,     ///< the same, but of all steps together: equal shares of a purpose's bytes for senders equal by the plan
  plan,     ///< predicted, collectives as rings
};

struct Topology {
  QString failure;  ///< why there is none; empty: there is
  QString cluster;
  int ranks = 0;
  double step_seconds = 0;
  LoadSource source = LoadSource::plan;
  std::vector<NetworkLevel> levels;
  std::vector<std::vector<LinkLoad>> loads;  ///< [level][unit]
  double share(std::size_t level, std::size_t unit) const {
    return utilisation(loads[level][unit], levels[level], step_seconds);
  }
  double greatest_share() const;
  /// The value of the strongest shade: the greatest share, rounded up to 1, 2 or 5 times a power of ten.
  double full_share() const;
};

/// Slow for many ops: for worker threads.
Topology topology_of(const TopologyRequest& request);

/// Each rank's counted bytes of each link, divided among purposes as in the plan's ops. Nothing if a rank did not
/// count all that it sent, or none was counted.
std::optional<std::vector<Flow>> counted_flows(const RunContext& context, const std::vector<LinkReport>& links);

/// `flows` with each sender's bytes of a purpose scaled to its counted bytes. True if anything was counted.
bool scale_to_counted(std::vector<Flow>& flows, const std::vector<StepSummary>& summaries);
/// The same with each purpose's bytes scaled to the mean count per step of all ranks.
bool scale_to_mean(std::vector<Flow>& flows, const RunTotals& totals);

/// Devices at the bottom, in rank order; above them the units that contain them, each as wide as its devices. As
/// high as is readable, in the middle of the area.
struct TopologyLayout {
  std::vector<std::vector<QRectF>> boxes;  ///< [level][unit]
  QRectF network;                          ///< what joins the largest units; empty if one unit contains all
  /// Level and unit at a point; level -1 outside of all.
  std::pair<int, int> at(QPointF point) const;
};
TopologyLayout lay_out_topology(const Topology& topology, const QRectF& area);

/// "node 3: ranks 24 to 31".
QString name_of(const Topology& topology, std::size_t level, std::size_t unit);
QString describe(const Topology& topology, std::size_t level, std::size_t unit);

/// The text in a unit's box: "rank 3", "node 0: ranks 0 to 3", or less if it does not fit.
QStringList box_names(const Topology& topology, std::size_t level, std::size_t unit);

QStringList topology_titles();
/// One row per level: the busiest of its units and its traffic, their number, their uplink.
std::vector<std::vector<Cell>> topology_rows(const Topology& topology);
struct TopologyUnit {
  std::size_t level, unit;
};
/// The busiest first, at most `most`.
std::vector<TopologyUnit> busiest_units(const Topology& topology, std::size_t most);
QStringList unit_titles();
/// One row for each of these.
std::vector<std::vector<Cell>> unit_rows(const Topology& topology, std::size_t most);

}  // namespace rankscope::app
