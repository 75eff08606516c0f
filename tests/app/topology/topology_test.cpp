// SPDX-License-Identifier: GPL-3.0-or-later
#include <QMouseEvent>
#include <QTableView>
#include <QTest>
#include <cmath>
#include <map>

#include "app/views/topology/topology_view.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/predict/network/link_load.hpp"
#include "tests/app/models/no_run.hpp"
#include "tests/app/painted_text.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/session/runs.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

/// Two nodes of two devices: 100 bytes/s from a device, 50 from a node.
ClusterSpec two_nodes() {
  ClusterSpec cluster;
  cluster.devices_per_node = 2;
  cluster.intra_bandwidth = 100;
  cluster.inter_bandwidth = 25;
  return cluster;
}

const LinkLoad& load_of(const std::vector<std::vector<LinkLoad>>& loads, std::size_t level, std::size_t unit) {
  return loads.at(level).at(unit);
}

}  // namespace

TEST_CASE("A message within a node passes two devices, a message between nodes also the nodes' uplinks") {
  const auto levels = network_levels(two_nodes());
  REQUIRE(levels.size() == 2);
  CHECK(levels[1].way_out == 50);
  const std::vector<Flow> flows{{0, 1, Purpose::tensor, 10}, {1, 2, Purpose::pipeline_forward, 30}};
  const auto loads = link_loads(levels, flows, 4);
  CHECK(load_of(loads, 0, 0).out == 10);
  CHECK(load_of(loads, 0, 1).in == 10);
  CHECK(load_of(loads, 0, 1).out == 30);
  CHECK(load_of(loads, 1, 0).out == 30);  // tensor stays inside
  CHECK(load_of(loads, 1, 1).in == 30);
  CHECK(load_of(loads, 1, 1).out == 0);
  CHECK(load_of(loads, 1, 0).out_by_purpose[static_cast<std::size_t>(Purpose::tensor)] == 0);
  // 30 bytes over 50 bytes/s in a step of two seconds.
  CHECK(utilisation(load_of(loads, 1, 0), levels[1], 2) == Approx(0.3));
}

TEST_CASE("An all-reduce over four ranks sends 2 · 3/4 of the tensor from each, and once over each node's uplink") {
  const Prediction prediction = predict(small_scenario("data = 4\nmicro_batches = 1"));
  REQUIRE(prediction.context);
  const auto& programs = prediction.context->programs;
  const auto flows = flows_of(programs, prediction.context->step.grid);
  double of_rank_0 = 0, whole = 0;
  for (const Flow& flow : flows)
    if (flow.from == 0 && flow.purpose == Purpose::data_gradient) {
      CHECK(flow.to == 1);
      of_rank_0 += flow.bytes;
    }
  for (const Op& op : programs[0].ops)
    if (op.id.kind() == OpKind::all_reduce && op.id.fields().purpose == Purpose::data_gradient)
      whole += static_cast<double>(programs[0].payload_bytes(op));
  REQUIRE(whole > 0);
  CHECK(of_rank_0 == Approx(1.5 * whole));
  // With an algorithm that is no ring, its own transfers: all to rank 0, and the sum from it to all.
  for (const Flow& flow : flows_of(programs, prediction.context->step.grid, "naive"))
    if (flow.purpose == Purpose::data_gradient) {
      CHECK((flow.from == 0) != (flow.to == 0));
      CHECK(flow.bytes == Approx(whole).epsilon(1e-3));  // cut into equal parts
    }
  std::vector<Flow> gradients;
  for (const Flow& flow : flows)
    if (flow.purpose == Purpose::data_gradient) gradients.push_back(flow);
  const auto loads = link_loads(network_levels(two_nodes()), gradients, 4);
  CHECK(load_of(loads, 1, 0).out == Approx(of_rank_0));  // 1 → 2
  CHECK(load_of(loads, 1, 0).in == Approx(of_rank_0));   // 3 → 0
}

TEST_CASE("Counted bytes replace predicted ones") {
  std::vector<Flow> flows{{0, 1, Purpose::tensor, 10}, {0, 2, Purpose::tensor, 30}, {1, 0, Purpose::tensor, 40}};
  StepSummary first, second;
  first.rank = 0;
  first.traffic.push_back({Purpose::tensor, OpKind::all_reduce, 1, 0, 80});
  second.rank = 1;
  second.traffic.push_back({Purpose::tensor, OpKind::all_reduce, 1, 0, -1});  // opaque
  CHECK(scale_to_counted(flows, {first, second}));
  CHECK(flows[0].bytes == Approx(20));
  CHECK(flows[1].bytes == Approx(60));
  CHECK(flows[2].bytes == Approx(40));
  CHECK_FALSE(scale_to_counted(flows, {second}));
}

TEST_CASE("If a step's own counts were discarded, the load is the mean of all steps") {
  std::vector<Flow> flows{{0, 1, Purpose::tensor, 10}, {1, 0, Purpose::tensor, 30}, {0, 1, Purpose::norm, 5}};
  RunTotals totals;
  StepSummary summary;
  // Two steps of two ranks: 120 + 40 bytes in the first, none in the second.
  for (int rank = 0; rank < 2; ++rank) {
    summary.rank = rank;
    summary.traffic = {{Purpose::tensor, OpKind::all_reduce, 1, 0, rank == 0 ? 120 : 40},
                       {Purpose::norm, OpKind::all_reduce, 1, 0, -1}};
    totals.add(summary);
  }
  summary.step = 1;
  summary.traffic.clear();
  totals.add(summary);
  CHECK(scale_to_mean(flows, totals));
  CHECK(flows[0].bytes == Approx(20));  // 160 over two steps, one to three
  CHECK(flows[1].bytes == Approx(60));
  CHECK(flows[2].bytes == 5);  // the library did not report it
  CHECK_FALSE(scale_to_mean(flows, RunTotals{}));
}

TEST_CASE("Counted links are the load, to the byte, whatever the collectives' algorithm") {
  // "auto" reads directly from where the data are: no ring.
  const Prediction prediction = predict(small_scenario("data = 4\nmicro_batches = 1\ncollective = \"auto\""));
  REQUIRE(prediction.context);
  std::vector<LinkReport> links = prediction.report.links;
  REQUIRE_FALSE(links.empty());
  CHECK_FALSE(counted_flows(*prediction.context, links));  // a prediction counts nothing
  for (LinkReport& link : links) link.bytes = link.predicted + 1000 * link.from;
  links.push_back({3, 3, 500, 0});  // of no op of the plan
  const auto flows = counted_flows(*prediction.context, links);
  REQUIRE(flows);
  std::map<std::pair<int, int>, double> sums;
  for (const Flow& flow : *flows) sums[{flow.from, flow.to}] += flow.bytes;
  for (const LinkReport& link : links) CHECK(sums[{link.from, link.to}] == Approx(link.bytes));

  TopologyRequest request{prediction.context, links, {}, 0.5, {}};
  const Topology counted = topology_of(request);
  CHECK(counted.source == LoadSource::links);
  double out = 0;
  for (const LinkReport& link : links)
    if (link.from == 1) out += link.bytes;
  CHECK(load_of(counted.loads, 0, 1).out == Approx(out));
  CHECK(unit_rows(counted, 3).size() == 3);
  CHECK(unit_rows(counted, 3)[0][0].words == "device of rank 3");  // it sends most

  request.links[0].bytes = std::nan("");  // one that was not counted: then none is used
  CHECK(topology_of(request).source == LoadSource::plan);
}

TEST_CASE("The strongest shade is a round share that no unit passes") {
  Topology topology;
  topology.step_seconds = 1;
  topology.levels = network_levels(two_nodes());
  for (const double out : {0.37, 2.0, 3.1, 99.0, 100.0}) {
    topology.loads = {{LinkLoad{out, 0, {}}}};
    const double share = topology.greatest_share(), full = topology.full_share();
    CHECK(share == Approx(out / 100));
    CHECK(full >= share * (1 - 1e-9));
    CHECK(full <= 2.5 * share);
  }
  topology.loads = {{LinkLoad{}}};
  CHECK(topology.full_share() == 1);
}

TEST_CASE("Every box is drawn over the boxes that it contains, and the pointer finds it") {
  application();
  SharedState state;
  NoRun source;
  FiguresModel figures;
  TopologyView view(state, source, figures);
  view.resize(800, 400);
  view.show();
  const Prediction prediction = predict(small_scenario("data = 4\nmicro_batches = 1"));
  auto latest = std::make_shared<Figures>();
  latest->context = prediction.context;
  latest->predicted = prediction.report;
  figures.set(latest);
  REQUIRE(wait_until([&] { return view.settled() && !view.topology().loads.empty(); }));
  const TopologyLayout layout = view.layout_now();
  REQUIRE(layout.boxes.front().size() == 4);
  for (std::size_t level = 1; level < layout.boxes.size(); ++level)
    for (std::size_t unit = 0; unit < layout.boxes[level].size(); ++unit) {
      const QRectF& box = layout.boxes[level][unit];
      CHECK(box.bottom() < layout.boxes[level - 1].front().top());
      CHECK(QRectF(view.rect()).contains(box));
    }
  CHECK(layout.at(layout.boxes[0][2].center()) == std::pair{0, 2});
  CHECK(layout.at(QPointF(-5, -5)) == std::pair{-1, -1});
  CHECK(view.table().rows.size() == view.topology().levels.size());
  CHECK(describe(view.topology(), 0, 2).contains("rank 2"));
  // The drawing is in the middle of its space, its boxes have names, and a scale explains their shades.
  view.resize(1280, 800);
  const TopologyLayout large = view.layout_now();
  double top = 1e9, bottom = 0;
  for (const auto& level : large.boxes)
    for (const QRectF& box : level) {
      top = std::min(top, box.top());
      bottom = std::max(bottom, box.bottom());
    }
  CHECK(top < 260);
  CHECK(bottom - top > 120);
  QStringList words;
  for (const PaintedText& text : painted_texts(view)) {
    words << text.words;
    CHECK(QRectF(view.rect()).adjusted(-1, -1, 1, 1).contains(text.box));
  }
  CHECK(words.contains("rank 2"));
  CHECK(words.contains("node 0: ranks 0 to 3"));
  CHECK(words.contains("uplink busy"));
  CHECK_FALSE(words.contains("0"));
  // A click on a box, or on its row of the list of all, points at its uplink.
  std::vector<std::pair<QString, int>> pointed;
  QObject::connect(&view, &DataView::uplink_pointed,
                   [&](const QString& level, int unit) { pointed.emplace_back(level, unit); });
  QTest::mouseClick(&view, Qt::LeftButton, {}, large.boxes[0][2].center().toPoint());
  QTest::mouseClick(&view, Qt::LeftButton, {}, large.boxes[1][0].center().toPoint());
  QTest::mouseClick(&view, Qt::LeftButton, {}, QPoint(2, 2));
  CHECK(pointed == std::vector<std::pair<QString, int>>{{"device", 2}, {"node", 0}});
  const TopologyUnit first = busiest_units(view.topology(), 1).front();
  for (auto* list : view.findChildren<QTableView*>())
    if (list->model()->rowCount() == 5)  // four devices and the node
      QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualRect(list->model()->index(0, 0)).center());
  REQUIRE(pointed.size() == 3);
  CHECK(pointed[2] == std::pair{QString::fromLatin1(name_of(view.topology().levels[first.level].unit)),
                                static_cast<int>(first.unit)});
  view.resize(670, 160);  // as in the window's dock
  const TopologyLayout low = view.layout_now();
  for (const auto& level : low.boxes)
    for (const QRectF& box : level) CHECK(QRectF(view.rect()).contains(box));
  CHECK(low.boxes[1][0].bottom() < low.boxes[0][0].top());
}

TEST_CASE("A plan whose ranks are not held in memory has the same links as one whose are") {
  Scenario scenario = small_scenario("data = 2\ntensor = 2\npipeline = 2\nmicro_batches = 2");
  scenario.cluster.devices_per_node = 2;
  const Prediction prediction = predict(scenario);
  REQUIRE(prediction.context);
  TopologyRequest held, made;
  held.context = prediction.context;
  made.scenario = scenario;
  const Topology a = topology_of(held), b = topology_of(made);
  REQUIRE(a.failure.isEmpty());
  REQUIRE(b.failure.isEmpty());
  REQUIRE(a.loads.size() == b.loads.size());
  for (std::size_t level = 0; level < a.loads.size(); ++level) {
    REQUIRE(a.loads[level].size() == b.loads[level].size());
    for (std::size_t unit = 0; unit < a.loads[level].size(); ++unit) {
      CHECK(a.loads[level][unit].out > 0);
      CHECK(b.loads[level][unit].out == Approx(a.loads[level][unit].out));
      CHECK(b.loads[level][unit].in == Approx(a.loads[level][unit].in));
    }
  }
}

TEST_CASE("A program too large for the view of links is reported, with a remedy") {
  TopologyRequest request;
  request.scenario = small_scenario("data = 2\npipeline = 2");
  request.scenario->plan.micro_batches = 20000;
  request.scenario->train.global_batch = 40000;
  const Topology none = topology_of(request);
  CHECK(none.failure.contains("20,000 micro-batches"));
  CHECK(none.loads.empty());
}

TEST_CASE("The table names an uplink's largest traffic and how much more there is; the tool tip names all") {
  Topology topology;
  topology.ranks = 2;
  topology.step_seconds = 1;
  topology.levels = network_levels(two_nodes());
  const std::vector<Flow> flows{{0, 1, Purpose::data_gradient, 6 * 1024}, {0, 1, Purpose::tensor, 5 * 1024},
                                {0, 1, Purpose::embedding, 4 * 1024},     {0, 1, Purpose::loss, 3 * 1024},
                                {0, 1, Purpose::norm, 2 * 1024},          {0, 1, Purpose::pipeline_forward, 1024}};
  topology.loads = link_loads(topology.levels, flows, 2);
  const auto rows = unit_rows(topology, 10);
  const QString words = rows.front()[1].words;
  CHECK(words.startsWith("data gradient 6.00"));
  CHECK(words.contains("loss 3.00"));
  CHECK_FALSE(words.contains("norm"));
  CHECK(words.endsWith("and 2 more"));
  CHECK(topology_rows(topology).front()[1].words.endsWith("and 2 more"));
  CHECK(rows.front()[1].help.contains("pipeline forward 1.00"));
  CHECK_FALSE(rows.front()[1].help.contains("more"));
}

TEST_CASE("A cluster whose figures a scenario changed is marked as changed") {
  Scenario scenario = small_scenario("data = 2");
  scenario.cluster = parse_scenario("[cluster]\nspec = \"laptop\"\n", "plain.toml").cluster;
  TopologyRequest request;
  request.scenario = scenario;
  CHECK(topology_of(request).cluster == "laptop");
  request.scenario->cluster.intra_bandwidth = 1.25e9;
  CHECK(topology_of(request).cluster == QString::fromUtf8("laptop, with intra_bandwidth\u00A0=\u00A01.25\u00A0GB/s"));
}

TEST_CASE("Without programs the view says why it has no links") {
  const Topology none = topology_of({});
  CHECK_FALSE(none.failure.isEmpty());
  CHECK(none.loads.empty());
}
