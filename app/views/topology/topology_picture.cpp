// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/topology/topology_picture.hpp"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/views/common/cluster_words.hpp"
#include "app/views/common/text.hpp"
#include "engine/explain/analyse/exchange.hpp"
#include "engine/explain/facts/prediction.hpp"
#include "engine/plan/program/compile.hpp"
#include "engine/predict/cost/software.hpp"

namespace rankscope::app {
namespace {

constexpr double most_height = 110, least_height = 18;
constexpr double gap_share = 0.5, least_gap = 14;  ///< between two levels, of a box's height

/// Ops of one rank of each stage: their programs are made within seconds.
constexpr double most_ops = 2e5;
/// Listed in a cell of the tables; the tool tip lists all.
constexpr std::size_t most_purposes = 4;

using text::tr;

/// Purposes of the bytes that leave a unit, largest first: "data gradient 12 MiB, tensor 3 MiB and 2 more".
QString purposes_of(const LinkLoad& load, std::size_t most = purpose_count) {
  std::vector<std::pair<double, Purpose>> sorted;
  for (int p = 0; p < purpose_count; ++p)
    if (const double bytes = load.out_by_purpose[static_cast<std::size_t>(p)]; bytes > 0)
      sorted.emplace_back(bytes, static_cast<Purpose>(p));
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  QStringList words;
  for (std::size_t i = 0; i < sorted.size() && i < most; ++i)
    words << text::words(name_of(sorted[i].second)) + QLatin1Char(' ') + text::bytes(sorted[i].first);
  const QString all = words.join(QStringLiteral(", "));
  return sorted.size() > most ? tr("%1 and %2 more").arg(all).arg(sorted.size() - most) : all;
}

/// Ranks of a stage, which are consecutive.
int ranks_of_stage(const StepProgram& step) { return step.grid.tensor * step.grid.data; }

/// Whether all ranks of a stage send the same.
bool are_ranks_identical(const StepProgram& step) {
  return step.scenario.plan.data_parallel == DataParallel::all_reduce;
}

/// As flows_of: what all ranks of a plan send, if the ranks of a stage are identical. One program per stage represents
/// them.
std::vector<Flow> flows_of_identical_ranks(const StepProgram& step) {
  std::vector<Flow> flows;
  const int identical_ranks = ranks_of_stage(step);
  for (int stage = 0; stage < step.grid.pipeline; ++stage) {
    RankProgram program = as_run_on(step.scenario.cluster, step.program_for(stage * identical_ranks));
    std::erase_if(program.ops, [](const Op& op) { return !is_communication(op.id.kind()); });
    for (int i = 0; i < identical_ranks; ++i) {
      const auto sent = flows_of(std::span(&program, 1), step.grid, step.scenario.plan.collective);
      flows.insert(flows.end(), sent.begin(), sent.end());
      // The next rank sends to the rank with the same position in the next stage.
      ++program.rank;
      for (Op& op : program.ops)
        if (op.id.kind() == OpKind::send) ++op.peer;
    }
  }
  return flows;
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

double Topology::full_share() const {
  const double greatest = greatest_share();
  if (!(greatest > 0)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(greatest)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (greatest <= factor * power * (1 + 1e-9)) return factor * power;
  return 10 * power;
}

std::optional<std::vector<Flow>> counted_flows(const RunContext& context, const std::vector<LinkReport>& links) {
  double sum = 0;
  for (const LinkReport& link : links) sum += link.bytes;  // NaN where one was not counted
  if (!(sum > 0)) return std::nullopt;
  // Counted bytes have no purpose: each link's bytes are divided among purposes as in the plan.
  const auto algorithm = algorithm_of(context.step.scenario.plan.collective);
  std::set<std::pair<Purpose, OpKind>> keys;
  for (const RankProgram& program : context.programs)
    for (const Op& op : program.ops)
      if (is_communication(op.id.kind()) && op.id.kind() != OpKind::receive)
        keys.insert({op.id.fields().purpose, op.id.kind()});
  std::map<std::pair<int, int>, std::map<Purpose, double>> planned;
  for (const auto& [purpose, kind] : keys) {
    const TrafficMatrix matrix = traffic_matrix(*context.linked, algorithm, TrafficKey{purpose, kind},
                                                context.step.grid.size(), Automatic::direct);
    for (int from = 0; from < matrix.side; ++from)
      for (int to = 0; to < matrix.side; ++to)
        if (const double bytes = matrix.at(from, to); bytes > 0) planned[{from, to}][purpose] += bytes;
  }
  std::vector<Flow> flows;
  for (const LinkReport& link : links) {
    if (link.bytes <= 0) continue;
    const auto known = planned.find({link.from, link.to});
    if (known == planned.end()) {
      flows.push_back({link.from, link.to, Purpose::none, link.bytes});
      continue;
    }
    double whole = 0;
    for (const auto& [purpose, bytes] : known->second) whole += bytes;
    for (const auto& [purpose, bytes] : known->second)
      flows.push_back({link.from, link.to, purpose, link.bytes * bytes / whole});
  }
  return flows;
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

bool scale_to_mean(std::vector<Flow>& flows, const RunTotals& totals) {
  double steps = 0;
  totals.steps.for_each([&](std::uint32_t, const StepTotals&) { ++steps; });
  std::map<Purpose, double> counted, predicted;
  std::set<Purpose> opaque;
  for (const auto& [key, sum] : totals.traffic) {
    const auto& [purpose, kind, group] = key;
    if (kind == OpKind::receive) continue;
    counted[purpose] += static_cast<double>(sum.wire_bytes);
    if (sum.opaque) opaque.insert(purpose);
  }
  for (const Flow& flow : flows) predicted[flow.purpose] += flow.bytes;
  bool any = false;
  for (Flow& flow : flows) {
    const auto found = counted.find(flow.purpose);
    if (found == counted.end() || opaque.contains(flow.purpose) || !(predicted[flow.purpose] > 0)) continue;
    flow.bytes *= found->second / steps / predicted[flow.purpose];
    any = true;
  }
  return any;
}

Topology topology_of(const TopologyRequest& request) {
  Topology topology;
  if (!request.context && !request.scenario) {
    topology.failure = tr("Open a scenario to see the links of its cluster and the traffic of the plan in a step.");
    return topology;
  }
  std::optional<StepProgram> compiled;
  try {
    if (!request.context) compiled = compile(*request.scenario);
    topology.levels = network_levels((compiled ? *compiled : request.context->step).scenario.cluster);
  } catch (const std::exception& error) {
    topology.failure = QString::fromUtf8(error.what());
    return topology;
  }
  const StepProgram& step = compiled ? *compiled : request.context->step;
  topology.cluster = cluster_words(step.scenario.cluster);
  topology.ranks = step.grid.size();
  topology.step_seconds = request.step_seconds;
  if (compiled && !are_ranks_identical(step)) {
    topology.failure = tr("The programs of this plan's %1 ranks are too long to create each, and ranks are not "
                          "identical: a main device or servers differ from the others.")
                           .arg(text::count(topology.ranks));
    return topology;
  }
  if (compiled && count_ops(step) / ranks_of_stage(step) > most_ops) {
    topology.failure = tr("With %1 micro-batches the programs of this plan are too long to count their traffic. "
                          "Use fewer micro-batches of the same size: the traffic of each is the same.")
                           .arg(text::count(step.scenario.plan.micro_batches));
    return topology;
  }
  std::vector<Flow> flows;
  if (compiled) {
    flows = flows_of_identical_ranks(step);
  } else if (auto counted = counted_flows(*request.context, request.links)) {
    flows = std::move(*counted);
    topology.source = LoadSource::links;
  } else {
    flows = flows_of(request.context->programs, step.grid, step.scenario.plan.collective);
    if (scale_to_counted(flows, request.summaries))
      topology.source = LoadSource::senders;
    else if (request.summaries.empty() && request.totals && scale_to_mean(flows, *request.totals))
      topology.source = LoadSource::mean;
  }
  topology.loads = link_loads(topology.levels, flows, topology.ranks);
  return topology;
}

TopologyLayout lay_out_topology(const Topology& topology, const QRectF& area) {
  TopologyLayout layout;
  const auto levels = topology.levels.size();
  const bool joined = levels > 0 && topology.loads.back().size() > 1;
  const double lines = static_cast<double>(levels) + (joined ? 1 : 0);
  const double height =
      std::clamp(area.height() / (lines + gap_share * std::max(lines - 1, 0.0)), least_height, most_height);
  const double gap_y = std::max(height * gap_share, least_gap);
  const double each = area.width() / std::max(topology.ranks, 1);
  const double whole = lines * height + std::max(lines - 1, 0.0) * gap_y;
  double y = area.bottom() - std::max(0.0, area.height() - whole) / 2 - height;
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
  const QString name = QObject::tr(name_of(kind.unit));
  if (kind.devices == 1) return tr("%1 of rank %2").arg(name).arg(first);
  return tr("%1 %2: ranks %3 to %4").arg(name).arg(unit).arg(first).arg(last);
}

QString describe(const Topology& topology, std::size_t level, std::size_t unit) {
  const LinkLoad& load = topology.loads[level][unit];
  const QString purposes = purposes_of(load);
  return tr("%1\nout %2, in %3 per step\nbusy %4 of the step at %5 each way%6")
      .arg(name_of(topology, level, unit), text::bytes(load.out), text::bytes(load.in),
           text::percent(topology.share(level, unit)), text::bandwidth(topology.levels[level].way_out),
           purposes.isEmpty() ? QString() : QLatin1Char('\n') + purposes);
}

QStringList box_names(const Topology& topology, std::size_t level, std::size_t unit) {
  const NetworkLevel& kind = topology.levels[level];
  if (kind.devices == 1) return {tr("rank %1").arg(unit), QString::number(unit)};
  return {name_of(topology, level, unit), tr("%1 %2").arg(QObject::tr(name_of(kind.unit))).arg(unit),
          QString::number(unit)};
}

QStringList topology_titles() {
  return {tr("uplink of"), tr("busiest unit"), tr("units"), tr("each way"), tr("busiest link, per step"),
          tr("busy"),      tr("mean")};
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
    rows.push_back(
        {{QObject::tr(name_of(topology.levels[level].unit)), Tone::text, {}},
         {carried > 0 ? name_of(topology, level, most) + QStringLiteral(" · ") + purposes_of(units[most], most_purposes)
                      : tr("no traffic"),
          Tone::dim,
          {}},
         {QString::number(units.size()), Tone::text, {}},
         {text::bandwidth(topology.levels[level].way_out), Tone::dim, {}},
         {text::bytes(carried), Tone::text, {}},
         {text::percent(share), tone, {}},
         {text::percent(sum / static_cast<double>(units.size())), Tone::dim, {}}});
  }
  return rows;
}

QStringList unit_titles() {
  return {tr("uplink of"), tr("sends"), tr("out, per step"), tr("in, per step"), tr("busy")};
}

std::vector<TopologyUnit> busiest_units(const Topology& topology, std::size_t most) {
  std::vector<TopologyUnit> units;
  for (std::size_t level = 0; level < topology.loads.size(); ++level)
    for (std::size_t unit = 0; unit < topology.loads[level].size(); ++unit) units.push_back({level, unit});
  std::stable_sort(units.begin(), units.end(), [&](const TopologyUnit& a, const TopologyUnit& b) {
    return topology.share(a.level, a.unit) > topology.share(b.level, b.unit);
  });
  if (units.size() > most) units.resize(most);
  return units;
}

std::vector<std::vector<Cell>> unit_rows(const Topology& topology, std::size_t most) {
  std::vector<std::vector<Cell>> rows;
  for (const TopologyUnit& at : busiest_units(topology, most)) {
    const LinkLoad& load = topology.loads[at.level][at.unit];
    const double share = topology.share(at.level, at.unit);
    rows.push_back({{name_of(topology, at.level, at.unit), Tone::text, {}},
                    {load.out > 0 ? purposes_of(load, most_purposes) : tr("nothing"), Tone::dim, purposes_of(load)},
                    {text::bytes(load.out), Tone::text, {}},
                    {text::bytes(load.in), Tone::text, {}},
                    {text::percent(share), share > 0.5 ? Tone::bad : Tone::text, {}}});
  }
  return rows;
}

}  // namespace rankscope::app
