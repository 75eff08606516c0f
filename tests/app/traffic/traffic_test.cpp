// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/traffic_table.hpp"

#include <cmath>

#include "engine/explain/facts/facts.hpp"
#include "engine/plan/program/link.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"
#include "tests/engine/predict/simulate/pipelines.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

/// Two ranks all-reduce 8 MB once. Rank 0 arrives 3 ms before rank 1; the bytes then take 2 ms. A ring of two moves
/// 2(n-1)/n = 1 times the payload over each link.
Figures one_all_reduce() {
  const OpId op = OpId::of({.kind = OpKind::all_reduce, .purpose = Purpose::data_gradient, .chunk = 0, .index = 0});
  Figures figures;
  figures.run.emplace();
  figures.run->ranks = 2;
  TrafficReport row;
  row.purpose = Purpose::data_gradient;
  row.collective = OpKind::all_reduce;
  row.count = 1;
  row.bytes_per_rank = 8e6;
  row.predicted = 8e6;
  figures.run->traffic.push_back(row);
  figures.step_spans = {{0, 7, op, 0, 3'000'000, 5'000'000}, {1, 7, op, 3'000'000, 3'000'000, 5'000'000}};
  figures.run->plan.collective = "ring";
  auto context = std::make_shared<RunContext>();
  context->step.grid = {1, 2, 1};
  for (int rank = 0; rank < 2; ++rank) {
    context->programs.emplace_back().rank = rank;
    add_collective(context->programs.back(), to_token(op), GroupKind::data, 8'000'000);
  }
  figures.context = context;
  figures.linked = std::make_shared<const Step>(link(context->programs, context->step.grid));
  return figures;
}

}  // namespace

TEST_CASE("Waiting is separated from transfer, and the bus bandwidth counts only the transfer") {
  const auto lines = traffic_lines(one_all_reduce());
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].waiting_s == Approx(1.5e-3));  // (3 ms + 0) / 2
  CHECK(lines[0].transfer_s == Approx(2e-3));
  CHECK(lines[0].bus_bandwidth == Approx(4e9));  // 8 MB / 2 ms
}

TEST_CASE("Bytes that an opaque library hides stay unknown, and the prediction is shown with them") {
  Figures figures = one_all_reduce();
  figures.run->traffic[0].bytes_per_rank = std::nan("");
  TrafficModel model;
  model.set_lines(traffic_lines(figures));
  const auto cell = [&](int column) { return model.data(model.index(0, column), Qt::DisplayRole).toString(); };
  CHECK(cell(TrafficModel::sent) == QString::fromUtf8("–"));
  CHECK(cell(TrafficModel::predicted) == QString::fromUtf8("7.63\u00A0MiB"));
}

TEST_CASE("The table states every number with its unit") {
  TrafficModel model;
  model.set_lines(traffic_lines(one_all_reduce()));
  const auto cell = [&](int column) { return model.data(model.index(0, column), Qt::DisplayRole).toString(); };
  CHECK(cell(TrafficModel::purpose) == "data gradient");
  CHECK(cell(TrafficModel::collective) == "all-reduce");
  CHECK(cell(TrafficModel::algorithm) == "ring");
  CHECK(cell(TrafficModel::count) == "1");
  CHECK(cell(TrafficModel::sent) == QString::fromUtf8("7.63\u00A0MiB"));
  CHECK(cell(TrafficModel::waiting) == QString::fromUtf8("1.50\u00A0ms"));
  CHECK(cell(TrafficModel::transfer) == QString::fromUtf8("2.00\u00A0ms"));
  CHECK(cell(TrafficModel::bandwidth) == QString::fromUtf8("4.00\u00A0GB/s"));
}

TEST_CASE("A message is one line: the receiver's wait counts with the sender's") {
  Figures figures;
  figures.run.emplace();
  figures.run->ranks = 2;
  TrafficReport row;
  row.purpose = Purpose::pipeline_forward;
  row.collective = OpKind::send;
  row.count = 1;
  row.bytes_per_rank = row.predicted = 1000;
  figures.run->traffic.push_back(row);
  const auto op = [](OpKind kind, int chunk) {
    return OpId::of({.kind = kind, .purpose = Purpose::pipeline_forward, .chunk = chunk, .micro_batch = 0});
  };
  figures.step_spans = {{0, 0, op(OpKind::send, 0), 100, 400, 500}, {1, 0, op(OpKind::receive, 1), 200, 400, 500}};
  auto context = std::make_shared<RunContext>();
  context->step.grid = {1, 1, 2};
  context->programs.resize(2);
  context->programs[1].rank = 1;
  add_message(context->programs[0], to_token(op(OpKind::send, 0)), 1, 1000);
  add_message(context->programs[1], to_token(op(OpKind::receive, 1)), 0, 1000);
  figures.context = context;
  figures.linked = std::make_shared<const Step>(link(context->programs, context->step.grid));
  const auto lines = traffic_lines(figures);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].waiting_s == Approx((300 + 200) / 2 * 1e-9));
  CHECK(lines[0].bus_bandwidth == Approx(1000 / 100e-9));
}

TEST_CASE("What a sender sent over the time it took is a message's bandwidth, though the ranks between also receive") {
  // Three stages, two messages of 1,000 bytes over each of the two links, 100 ns each: the middle rank is busy twice as
  // long as either end, but of its 400 ns the first 200 are its predecessor's bytes.
  Figures figures;
  figures.run.emplace();
  figures.run->ranks = 3;
  TrafficReport row;
  row.purpose = Purpose::pipeline_forward;
  row.collective = OpKind::send;
  row.count = 2;
  row.bytes_per_rank = row.predicted = 2000;
  figures.run->traffic.push_back(row);
  auto context = std::make_shared<RunContext>();
  context->step.grid = {1, 1, 3};
  context->programs.resize(3);
  for (int rank = 0; rank < 3; ++rank) context->programs[static_cast<std::size_t>(rank)].rank = rank;
  for (int link = 0; link < 2; ++link)
    for (int m = 0; m < 2; ++m) {
      const auto op = [&](OpKind kind, int chunk) {
        return OpId::of({.kind = kind, .purpose = Purpose::pipeline_forward, .chunk = chunk, .micro_batch = m});
      };
      const std::int64_t at = 100 * (2 * link + m);
      const OpId out = op(OpKind::send, link), in = op(OpKind::receive, link + 1);
      figures.step_spans.push_back({link, 0, out, at, at, at + 100});
      figures.step_spans.push_back({link + 1, 0, in, at, at, at + 100});
      add_message(context->programs[static_cast<std::size_t>(link)], to_token(out), link + 1, 1000);
      add_message(context->programs[static_cast<std::size_t>(link + 1)], to_token(in), link, 1000);
    }
  figures.context = context;
  figures.linked = std::make_shared<const Step>(link(context->programs, context->step.grid));
  const auto lines = traffic_lines(figures);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].transfer_s == Approx(200e-9));
  CHECK(lines[0].bytes / lines[0].transfer_s == Approx(lines[0].bus_bandwidth));
  CHECK(lines[0].least == 2);
  CHECK(lines[0].most == 2);
}

TEST_CASE("A count that differs between senders is shown as range and mean, and a mean alone as a mean") {
  TrafficLine line;
  line.purpose = Purpose::server;
  const auto words = [&] {
    TrafficModel model;
    model.set_lines({line});
    return model.data(model.index(0, TrafficModel::count), Qt::DisplayRole).toString();
  };
  // Four workers send one each, their server four: eight messages of five senders.
  line.count = 1.6;
  line.least = 1;
  line.most = 4;
  CHECK(words() == QString::fromUtf8("1–4, mean 1.60"));
  line.least = line.most = -1;
  CHECK(words() == "mean 1.60");
  line.count = 8;
  CHECK(words() == "8");
}

TEST_CASE("A column without any known value differs from a partly known one") {
  TrafficLine known, unknown;
  known.bytes = 8;
  TrafficModel model;
  model.set_lines({unknown, unknown});
  CHECK_FALSE(model.has_values(TrafficModel::sent));
  CHECK(model.has_values(TrafficModel::purpose));
  model.set_lines({unknown, known});
  CHECK(model.has_values(TrafficModel::sent));
}
