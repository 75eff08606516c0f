// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/traffic_view.hpp"

#include <QComboBox>
#include <QTest>

#include "engine/facts/facts.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/session/runs.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

class Held : public SnapshotSource {
 public:
  explicit Held(std::shared_ptr<const StoreView> view) : view_(std::move(view)) {}
  std::shared_ptr<const StoreView> view() const override { return view_; }

 private:
  std::shared_ptr<const StoreView> view_;
};

/// The prediction of two pipelines of two stages, as the session would tell it.
struct Place {
  Place() {
    application();
    const Prediction prediction = predict(
        small_scenario("data = 2\npipeline = 2\nschedule = \"gpipe\"\nmicro_batches = 4\ncollective = \"ring\""));
    REQUIRE(prediction.refusal.empty());
    auto told = std::make_shared<Figures>();
    told->predicted = prediction.report;
    told->forecast = prediction.report.predicted;
    told->context = prediction.context;
    told->step_spans = prediction.view->step_spans(Obtained::simulated, told->forecast->step);
    source = std::make_unique<Held>(prediction.view);
    state.set_shown(Obtained::simulated);
    figures.set(told);
    view = std::make_unique<TrafficView>(state, *source, figures);
    view->resize(1200, 760);
    view->show();
    settle();
  }
  void settle() {
    REQUIRE(wait_until([&] { return view->settled(); }));
  }
  int row(Purpose purpose) const {
    for (std::size_t i = 0; i < view->model().lines().size(); ++i)
      if (view->model().lines()[i].purpose == purpose) return static_cast<int>(i);
    return -1;
  }

  SharedState state;
  FiguresModel figures;
  std::unique_ptr<Held> source;
  std::unique_ptr<TrafficView> view;
};

}  // namespace

TEST_CASE("A click on a line of the table plays an op of it, and the map counts it alone") {
  Place p;
  const int gradients = p.row(Purpose::data_gradient);
  REQUIRE(gradients >= 0);
  const QModelIndex index = p.view->table()->model()->index(gradients, 0);
  QTest::mouseClick(p.view->table()->viewport(), Qt::LeftButton, {}, p.view->table()->visualRect(index).center());
  p.settle();
  const GroupExchange* played = p.view->player()->exchange();
  REQUIRE(played != nullptr);
  CHECK(played->kind == OpKind::all_reduce);
  CHECK(played->size() == 2);
  CHECK(played->algorithm == Algorithm::ring);
  CHECK(played->phases == 2);
  CHECK_FALSE(played->timed);  // a prediction records no phases
  const TrafficMatrix* map = p.view->heat_map()->matrix();
  REQUIRE(map != nullptr);
  // Rank 0 reduces with rank 1 alone, and nothing else is counted.
  CHECK(map->at(0, 1) > 0);
  CHECK(map->at(0, 2) == 0);

  const int messages = p.row(Purpose::pipeline_forward);
  p.view->table()->selectRow(messages);
  p.settle();
  CHECK(p.view->player()->exchange()->kind == OpKind::send);
  CHECK(p.view->heat_map()->matrix()->at(0, 2) > 0);
  CHECK(p.view->heat_map()->matrix()->at(0, 1) == 0);
}

TEST_CASE("A message chosen in the time line is the one that is played, asked from its receiver too") {
  Place p;
  const OpId got = parse_token("RECV.pipeline_forward:c1:m2").value();
  p.state.set_selected(SpanRef{3, p.figures.latest()->forecast->step, got, Obtained::simulated});
  p.settle();
  const GroupExchange* played = p.view->player()->exchange();
  REQUIRE(played != nullptr);
  CHECK(to_token(played->op) == "SEND.pipeline_forward:c0:m2");
  CHECK(played->ranks == std::vector<int>{1, 3});
}

TEST_CASE("The map's rows add up to what the table says that a rank sends") {
  Place p;
  for (const TrafficLine& line : p.view->model().lines()) {
    if (line.kind == OpKind::copy) continue;
    const auto& context = *p.figures.latest()->context;
    const TrafficMatrix matrix =
        traffic_matrix(context.programs, context.step.grid, Algorithm::ring, TrafficKey{line.purpose, line.kind});
    int senders = 0;
    for (int from = 0; from < matrix.side; ++from) {
      double sent = 0;
      for (int to = 0; to < matrix.side; ++to) sent += matrix.at(from, to);
      senders += sent > 0;
    }
    INFO(TrafficModel::words_of({line.purpose, line.kind}).toStdString());
    CHECK(matrix.total == Approx(line.predicted * senders));
  }
}

TEST_CASE("Where there is little room one part is seen at a time, and its button brings it") {
  Place p;
  p.view->resize(700, 260);
  CHECK(p.view->table()->isVisible());
  CHECK_FALSE(p.view->player()->isVisible());
  CHECK_FALSE(p.view->heat_map()->isVisible());
  for (QToolButton* button : p.view->findChildren<QToolButton*>())
    if (button->text() == "Rank to rank") QTest::mouseClick(button, Qt::LeftButton);
  CHECK_FALSE(p.view->table()->isVisible());
  CHECK(p.view->heat_map()->isVisible());
  p.view->resize(1200, 760);
  CHECK(p.view->table()->isVisible());
  CHECK(p.view->player()->isVisible());
  CHECK(p.view->heat_map()->isVisible());
}

TEST_CASE("A veiled view shows none of its parts") {
  Place p;
  p.view->set_veiled(true);
  CHECK_FALSE(p.view->table()->isVisible());
  CHECK_FALSE(p.view->player()->isVisible());
  CHECK_FALSE(p.view->heat_map()->isVisible());
}
