// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/hang/hang_view.hpp"

#include <QSignalSpy>
#include <QTest>

#include "tests/app/session/qt_application.hpp"
#include "tests/app/session/runs.hpp"
#include "tests/catch.hpp"
#include "tests/engine/explain/analyse/missing_rank.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

class FixedSnapshot : public SnapshotSource {
 public:
  std::shared_ptr<const StoreView> view() const override { return store.view(); }
  void send(int rank, Event event) {
    Message message;
    message.rank = rank;
    message.sequence = ++sequence_[rank];
    message.event = std::move(event);
    store.accept(message);
  }
  void done() { emit changed(); }
  RunStore store;

 private:
  std::map<int, std::uint64_t> sequence_;
};

/// Three stages; stage 1 never ends its second micro-batch's forward of the third step.
struct Place {
  Place()
      : scenario(small_scenario("pipeline = 2\ndata = 2\nschedule = \"1f1b\"\nmicro_batches = 4")),
        prediction((application(), predict(scenario))),
        view(state, source, figures) {
    REQUIRE(prediction.refusal.empty());
    auto known = std::make_shared<Figures>();
    known->context = prediction.context;
    figures.set(known);
    view.resize(1000, 640);
    view.show();
  }
  void send_hello(int steps) {
    Hello hello;
    hello.scenario_toml = to_toml(scenario);
    hello.ranks = scenario.plan.ranks();
    hello.steps = steps;
    source.send(0, hello);
  }
  void send(const std::vector<Span>& spans) {
    for (const Span& span : spans) source.send(span.rank, SpanBatch{Obtained::measured, ClockDomain::wall, {span}});
    source.done();
    if (!live) settle();
  }
  void go_live() {
    live = true;
    view.set_live(true);
  }
  void settle() {
    REQUIRE(wait_until([&] { return view.settled(); }));
  }
  std::vector<Span> steps(int count) const {
    std::vector<Span> spans;
    const auto pattern = prediction.view->step_range(Obtained::simulated, 1);
    for (int step = 0; step < count; ++step)
      for (Span span : prediction.view->step_spans(Obtained::simulated, 1)) {
        const std::int64_t shift = step * pattern->length() - pattern->begin_ns;
        span.step = static_cast<std::uint32_t>(step);
        for (std::int64_t* stamp : {&span.begin_ns, &span.active_ns, &span.end_ns}) *stamp += shift;
        spans.push_back(span);
      }
    return spans;
  }

  Scenario scenario;
  Prediction prediction;
  SharedState state;
  FixedSnapshot source;
  FiguresModel figures;
  HangView view;
  bool live = false;
};

OpId forward_of_rank(const Prediction& prediction, int rank) {
  for (const Op& op : prediction.context->programs[static_cast<std::size_t>(rank)].ops)
    if (op.id.kind() == OpKind::forward && op.id.fields().micro_batch == 1) return op.id;
  return {};
}

}  // namespace

TEST_CASE("A live run with a missing rank is shown as a hang while it lasts, with the rank's name") {
  Place p;
  p.go_live();
  p.send_hello(5);
  const OpId stops = forward_of_rank(p.prediction, 1);
  REQUIRE(stops.valid());
  QSignalSpy emitted(&p.view, &HangView::hang_changed);
  p.send(reported_spans(p.prediction.context->programs, p.prediction.context->step.grid, p.steps(5), 1, stops, 2));
  CHECK(wait_until([&] { return p.view.title().startsWith("Running, step "); }));
  CHECK(emitted.isEmpty());
  CHECK_FALSE(p.view.settled());  // it is not known yet whether it progresses
  REQUIRE(wait_until([&] { return p.view.title().startsWith("Hang: no op has ended for "); }));
  CHECK(emitted.count() == 1);
  CHECK(emitted.last().first().toBool());
  INFO(p.view.words().toStdString());
  CHECK(p.view.words().startsWith(
      QString::fromStdString("Rank 1 is missing: it is in " + to_token(stops) + " of step 2. ")));
  CHECK(p.view.words().contains("Ranks 0, 2 and 3 wait for it."));
  // Each waiting op is listed with the missing ranks; the others' rows show whom they wait for.
  bool missing = false;
  for (int row = 0; row < p.view.pending().rowCount(); ++row) missing |= p.view.pending().words(row, 2) == "1";
  CHECK(missing);
  // An event that arrives late ends it.
  const auto whole = p.steps(5);
  for (const Span& span : whole)
    if (span.rank == 1 && span.step == 2 && span.op == stops) p.send({span});
  REQUIRE(wait_until([&] { return p.view.title().startsWith("Running, step "); }));
  CHECK(emitted.count() == 2);
  CHECK_FALSE(emitted.last().first().toBool());
}

TEST_CASE("Every lane shows its last finished op and its current op") {
  Place p;
  p.send_hello(5);
  const OpId stops = forward_of_rank(p.prediction, 1);
  p.send(reported_spans(p.prediction.context->programs, p.prediction.context->step.grid, p.steps(5), 1, stops, 2));
  const RowsModel& lanes = p.view.lanes();
  REQUIRE(lanes.rowCount() == static_cast<int>(p.view.picture().still.lanes.size()));
  bool found = false;
  for (int row = 0; row < lanes.rowCount(); ++row) {
    if (!lanes.words(row, 0).startsWith("rank 1") || lanes.words(row, 1) != "compute") continue;
    found = true;
    CHECK(lanes.words(row, 4) == QString::fromStdString(to_token(stops)) + QString::fromUtf8(" · 2"));
  }
  CHECK(found);
  // A recording with this end is not a live hang: the view shows where it ends.
  CHECK(p.view.title().startsWith("The data ends in step "));
  // A click on a lane selects the last op that it left.
  QTest::mouseClick(p.view.lane_table()->viewport(), Qt::LeftButton, {},
                    p.view.lane_table()->visualRect(lanes.index(0, 0)).center());
  REQUIRE(p.state.selected());
  CHECK(p.state.selected()->op == p.view.picture().still.lanes.front().left);
}

TEST_CASE("A run that has done all its steps says that there is no hang, however long it is silent") {
  Place p;
  p.go_live();
  p.send_hello(3);
  p.source.send(-1, End{-1, true, 2, {}});
  p.send(p.steps(3));
  CHECK(wait_until([&] { return p.view.title() == "No hang"; }));
  QTest::qWait(2600);
  CHECK(p.view.title() == "No hang");
}

TEST_CASE("A rank that failed is named after the run, with where the others were") {
  Place p;
  p.send_hello(5);
  const OpId stops = forward_of_rank(p.prediction, 1);
  const auto spans =
      reported_spans(p.prediction.context->programs, p.prediction.context->step.grid, p.steps(5), 1, stops, 2);
  p.source.send(1, End{1, false, 1, "killed", false});
  p.source.send(0, End{0, false, 1, "waited for rank 1", true});
  p.source.send(-1, End{-1, false, 1, "rank 1 was killed"});
  p.send(spans);
  CHECK(p.view.title().startsWith("The run failed in step "));
  CHECK(p.view.words().startsWith("Rank 1 is missing: killed."));
}

TEST_CASE("Without a run no hang is shown") {
  Place p;
  CHECK(p.view.title() == "Nothing ran");
  CHECK(p.view.lanes().rowCount() == 0);
}
