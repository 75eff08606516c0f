// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/topology/topology_picture.hpp"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <map>

#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr double gap_y = 26, most_height = 64;

QString tr(const char* words) { return QObject::tr(words); }

QString plain(std::string_view name) {
  return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()))
      .replace(QLatin1Char('_'), QLatin1Char(' '));
}

/// Purposes of what leaves a unit, largest first: "data gradient 12 MiB, tensor 3 MiB".
QString purposes_of(const LinkLoad& load, std::size_t most) {
  std::vector<std::pair<double, Purpose>> sorted;
  for (int p = 0; p < purpose_count; ++p)
    if (const double bytes = load.out_by_purpose[static_cast<std::size_t>(p)]; bytes > 0)
      sorted.emplace_back(bytes, static_cast<Purpose>(p));
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  QStringList words;
  for (std::size_t i = 0; i < sorted.size() && i < most; ++i)
    words << plain(name_of(sorted[i].second)) + QLatin1Char(' ') + text::bytes(sorted[i].first);
  return words.join(QStringLiteral(", "));
}

std::size_t busiest(const Topology& topology, std::size_t level) {
  const auto& units = topology.loads[level];
  const auto load = [](const LinkLoad& one) { return std::max(one.out, one.in); };
  return static_cast<std::size_t>(
      std::max_element(units.begin(), units.end(),
                       [&](const LinkLoad& a, const LinkLoad& b) { return load(a) < load(b); }) -
      units.begin());
}

}  // namespace

double Topology::greatest_share() const {
  double greatest = 0;
  for (std::size_t level = 0; level < loads.size(); ++level)
    for (std::size_t unit = 0; unit < loads[level].size(); ++unit) greatest = std::max(greatest, share(level, unit));
  return greatest;
}

bool scale_to_counted(std::vector<Flow>& flows, const std::vector<StepSummary>& summaries) {
  using Key = std::pair<int, Purpose>;
  std::map<Key, double> counted, predicted;
  std::map<Key, bool> opaque;
  for (const StepSummary& summary : summaries)
    for (const TrafficRow& row : summary.traffic) {
      if (row.kind == OpKind::receive) continue;
      const Key key{summary.rank, row.purpose};
      if (row.wire_bytes < 0)
        opaque[key] = true;
      else
        counted[key] += static_cast<double>(row.wire_bytes);
    }
  for (const Flow& flow : flows) predicted[{flow.from, flow.purpose}] += flow.bytes;
  bool any = false;
  for (Flow& flow : flows) {
    const Key key{flow.from, flow.purpose};
    const auto found = counted.find(key);
    if (found == counted.end() || opaque.count(key) > 0 || !(predicted[key] > 0)) continue;
    flow.bytes *= found->second / predicted[key];
    any = true;
  }
  return any;
}

Topology topology_of(const TopologyRequest& request) {
  Topology topology;
  if (!request.context) {
    topology.failure = tr("No plan is open, or its programs are too long to be made one by one.");
    return topology;
  }
  const StepProgram& step = request.context->step;
  topology.cluster = QString::fromStdString(step.scenario.cluster.spec);
  topology.ranks = step.grid.size();
  topology.step_seconds = request.step_seconds;
  try {
    topology.levels = network_levels(step.scenario.cluster);
  } catch (const std::exception& error) {
    topology.failure = QString::fromUtf8(error.what());
    return topology;
  }
  std::vector<Flow> flows = flows_of(request.context->programs, step.grid);
  topology.counted = scale_to_counted(flows, request.summaries);
  topology.loads = link_loads(topology.levels, flows, topology.ranks);
  return topology;
}

TopologyLayout lay_out_topology(const Topology& topology, const QRectF& area) {
  TopologyLayout layout;
  const auto levels = topology.levels.size();
  const bool joined = levels > 0 && topology.loads.back().size() > 1;
  const double lines = static_cast<double>(levels) + (joined ? 1 : 0);
  const double height = std::min(most_height, (area.height() - gap_y * (lines - 1)) / lines);
  const double each = area.width() / std::max(topology.ranks, 1);
  double y = area.bottom() - height;
  for (std::size_t level = 0; level < levels; ++level) {
    std::vector<QRectF>& boxes = layout.boxes.emplace_back();
    const int devices = topology.levels[level].devices;
    for (std::size_t unit = 0; unit < topology.loads[level].size(); ++unit) {
      const int first = static_cast<int>(unit) * devices, last = std::min(first + devices, topology.ranks);
      const double wide = (last - first) * each, gap = std::min(6.0, wide * 0.1);
      boxes.emplace_back(area.left() + first * each + gap / 2, y, wide - gap, height);
    }
    y -= height + gap_y;
  }
  if (joined) layout.network = QRectF(area.left(), y, area.width(), height);
  return layout;
}

std::pair<int, int> TopologyLayout::at(QPointF point) const {
  for (std::size_t level = 0; level < boxes.size(); ++level)
    for (std::size_t unit = 0; unit < boxes[level].size(); ++unit)
      if (boxes[level][unit].contains(point)) return {static_cast<int>(level), static_cast<int>(unit)};
  return {-1, -1};
}

QString name_of(const Topology& topology, std::size_t level, std::size_t unit) {
  const NetworkLevel& kind = topology.levels[level];
  const int first = static_cast<int>(unit) * kind.devices, last = std::min(first + kind.devices, topology.ranks) - 1;
  const QString name = QObject::tr(kind.name);
  if (kind.devices == 1) return tr("%1 of rank %2").arg(name).arg(first);
  return tr("%1 %2: ranks %3 to %4").arg(name).arg(unit).arg(first).arg(last);
}

QString describe(const Topology& topology, std::size_t level, std::size_t unit) {
  const LinkLoad& load = topology.loads[level][unit];
  const QString purposes = purposes_of(load, purpose_count);
  return tr("%1\nout %2, in %3 a step\nbusy %4 of the step at %5 each way%6")
      .arg(name_of(topology, level, unit), text::bytes(load.out), text::bytes(load.in),
           text::percent(topology.share(level, unit)), text::bandwidth(topology.levels[level].way_out),
           purposes.isEmpty() ? QString() : QLatin1Char('\n') + purposes);
}

QStringList topology_titles() {
  return {tr("way out of a"), tr("units"), tr("each way"),       tr("busiest carries, a step"),
          tr("busy"),         tr("mean"),  tr("which, and what")};
}

std::vector<std::vector<Cell>> topology_rows(const Topology& topology) {
  std::vector<std::vector<Cell>> rows;
  for (std::size_t level = 0; level < topology.loads.size(); ++level) {
    const auto& units = topology.loads[level];
    if (units.empty()) continue;
    const std::size_t most = busiest(topology, level);
    double sum = 0;
    for (std::size_t unit = 0; unit < units.size(); ++unit) sum += topology.share(level, unit);
    const double share = topology.share(level, most), carried = std::max(units[most].out, units[most].in);
    const Tone tone = share > 0.5 ? Tone::bad : Tone::text;
    rows.push_back({{QObject::tr(topology.levels[level].name), Tone::text, {}},
                    {QString::number(units.size()), Tone::text, {}},
                    {text::bandwidth(topology.levels[level].way_out), Tone::dim, {}},
                    {text::bytes(carried), Tone::text, {}},
                    {text::percent(share), tone, {}},
                    {text::percent(sum / static_cast<double>(units.size())), Tone::dim, {}},
                    {carried > 0 ? name_of(topology, level, most) + QStringLiteral(" · ") + purposes_of(units[most], 2)
                                 : tr("nothing leaves it"),
                     Tone::dim,
                     {}}});
  }
  return rows;
}

}  // namespace rankscope::app
