// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/traffic_view.hpp"
#include "app/views/traffic/facts_table.hpp"

#include <QComboBox>
#include <QHeaderView>
#include <QScrollBar>
#include <QTest>
#include <cmath>

#include "engine/explain/facts/facts.hpp"
#include "tests/app/painted_text.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/session/runs.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

class FixedSnapshot : public SnapshotSource {
 public:
  explicit FixedSnapshot(std::shared_ptr<const StoreView> view) : view_(std::move(view)) {}
  std::shared_ptr<const StoreView> view() const override { return view_; }

 private:
  std::shared_ptr<const StoreView> view_;
};

/// The prediction of two pipelines of two stages, as the session would provide it.
struct Place {
  explicit Place(const std::string& plan =
                     "data = 2\npipeline = 2\nschedule = \"gpipe\"\nmicro_batches = 4\ncollective = \"ring\"") {
    application();
    const Prediction prediction = predict(small_scenario(plan));
    REQUIRE(prediction.refusal.empty());
    auto known = std::make_shared<Figures>();
    known->predicted = prediction.report;
    known->forecast = prediction.report.predicted;
    known->context = prediction.context;
    known->linked = prediction.context->linked;
    known->step_spans = prediction.view->step_spans(Obtained::simulated, known->forecast->step);
    source = std::make_unique<FixedSnapshot>(prediction.view);
    state.set_shown(Obtained::simulated);
    figures.set(known);
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

  /// All texts of the player, in one line.
  QString explanation() const {
    QStringList words;
    for (const PaintedText& text : painted_texts(*view->player())) words << text.words;
    return words.join(' ').simplified();
  }

  SharedState state;
  FiguresModel figures;
  std::unique_ptr<FixedSnapshot> source;
  std::unique_ptr<TrafficView> view;
};

}  // namespace

TEST_CASE("A click on a line of the table plays an op of it, and the map counts it alone") {
  Place p;
  const int gradients = p.row(Purpose::data_gradient);
  REQUIRE(gradients >= 0);
  const QModelIndex index = p.view->list()->model()->index(gradients, 0);
  QTest::mouseClick(p.view->list()->viewport(), Qt::LeftButton, {}, p.view->list()->visualRect(index).center());
  p.settle();
  const GroupExchange* played = p.view->player()->exchange();
  REQUIRE(played != nullptr);
  CHECK(played->kind == OpKind::all_reduce);
  CHECK(played->size() == 2);
  CHECK(played->algorithm == Algorithm::ring);
  CHECK(played->phases == 2);
  CHECK_FALSE(played->timed);  // a prediction records no phases
  const LinkMatrix* map = p.view->heat_map()->matrix();
  REQUIRE(map != nullptr);
  // Rank 0 reduces with rank 1 only, and nothing else is counted.
  CHECK(map->shown(0, 1) > 0);
  CHECK(map->shown(0, 2) == 0);

  const int messages = p.row(Purpose::pipeline_forward);
  p.view->list()->selectRow(messages);
  p.settle();
  CHECK(p.view->player()->exchange()->kind == OpKind::send);
  CHECK(p.view->heat_map()->matrix()->shown(0, 2) > 0);
  CHECK(p.view->heat_map()->matrix()->shown(0, 1) == 0);
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
    const auto matrix = link_matrix(*p.figures.latest(), TrafficKey{line.purpose, line.kind});
    REQUIRE(matrix);
    int senders = 0;
    for (int from = 0; from < matrix->predicted.side; ++from) {
      double sent = 0;
      for (int to = 0; to < matrix->predicted.side; ++to) sent += matrix->shown(from, to);
      senders += sent > 0;
    }
    INFO(TrafficModel::words_of({line.purpose, line.kind}).toStdString());
    CHECK(matrix->total() == Approx(line.predicted * senders));
  }
}

TEST_CASE("The map draws counted links if the run has them, and says so; else it draws the prediction") {
  // The communicator's own collectives too: their bytes are counted like all others.
  const std::string collective = GENERATE("auto", "ring");
  application();
  const Prediction prediction =
      predict(small_scenario("data = 2\npipeline = 2\nmicro_batches = 4\ncollective = \"" + collective + "\""));
  REQUIRE(prediction.refusal.empty());
  Figures figures;
  figures.predicted = prediction.report;
  figures.context = prediction.context;
  figures.linked = prediction.context->linked;
  const auto planned = link_matrix(figures);
  REQUIRE(planned);
  CHECK(planned->source() == LinkMatrix::Source::predicted);
  CHECK_FALSE(planned->is_counted(0, 1));
  double links = 0;
  for (const LinkReport& link : prediction.report.links) {
    links += link.predicted;
    CHECK(planned->shown(link.from, link.to) == Approx(link.predicted));
  }
  CHECK(planned->total() == Approx(links));

  // Every sender counted 64 bytes more on each of its links than predicted, except rank 2, which could not count.
  figures.run = prediction.report;
  for (LinkReport& link : figures.run->links) link.bytes = link.from == 2 ? std::nan("") : link.predicted + 64;
  const auto counted = link_matrix(figures);
  REQUIRE(counted);
  CHECK(counted->source() == LinkMatrix::Source::both);
  for (const LinkReport& link : figures.run->links) {
    CHECK(counted->is_counted(link.from, link.to) == (link.from != 2));
    CHECK(counted->shown(link.from, link.to) == Approx(link.predicted + (link.from == 2 ? 0 : 64)));
  }
  CHECK(counted->is_counted(0, 0));  // it has counted, and sent itself nothing
  CHECK(counted->shown(0, 3) == 0);
  CHECK(link_matrix(figures, TrafficKey{Purpose::pipeline_forward, OpKind::send})->source() ==
        LinkMatrix::Source::predicted);

  HeatMap map;
  map.resize(520, 420);
  map.set_matrix(std::make_shared<const LinkMatrix>(*counted), "all traffic");
  const QString words = map.tip_at(map.cell_rect(0, 1).center().toPoint());
  CHECK(words.contains("counted"));
  CHECK(words.contains(QString::fromUtf8("64\u00a0B more")));
  CHECK(map.tip_at(map.cell_rect(2, 0).center().toPoint()).contains("could not count"));
  CHECK(map.source_words().contains("dotted"));
  std::vector<std::pair<int, int>> clicked;
  QObject::connect(&map, &HeatMap::link_clicked, [&](int from, int to) { clicked.emplace_back(from, to); });
  QTest::mouseClick(&map, Qt::LeftButton, {}, map.cell_rect(2, 3).center().toPoint());
  QTest::mouseClick(&map, Qt::LeftButton, {}, QPoint(1, 1));  // no cell
  CHECK(clicked == std::vector<std::pair<int, int>>{{2, 3}});
}

TEST_CASE("The map names its axes, and nothing of the view's words is cut or hidden, in a presentation neither") {
  Place p;
  const QSize size = GENERATE(QSize(1280, 800), QSize(1040, 585), QSize(1920, 1080));
  p.view->resize(size);
  p.view->set_presentation(size.width() == 1040 ? 24.0 / 13 : 1);
  p.settle();
  QStringList map;
  for (const PaintedText& text : painted_texts(*p.view->heat_map())) {
    map << text.words;
    INFO(text.words.toStdString());
    CHECK(QRectF(p.view->heat_map()->rect()).adjusted(-1, -1, 1, 1).contains(text.box));
  }
  CHECK(map.contains("to rank (receives)"));
  CHECK(map.contains("from rank (sends)"));
  for (const PaintedText& text : painted_texts(*p.view)) {
    INFO(text.words.toStdString());
    CHECK_FALSE(text.words.contains(QChar(0x2026)));
    CHECK(QRectF(p.view->rect()).adjusted(-1, -1, 1, 1).contains(text.box));
  }
  // Every title of the table has the width that it needs.
  const QHeaderView* header = p.view->list()->horizontalHeader();
  for (int column = 0; column < TrafficModel::column_count; ++column)
    CHECK((header->isSectionHidden(column) || header->sectionSize(column) >= header->sectionSizeHint(column)));
  CHECK(header->length() <= p.view->list()->viewport()->width());
}

TEST_CASE("The diagram of a message is above its times, and the buttons are below both") {
  Place p;
  p.view->resize(1280, 800);
  p.view->list()->selectRow(p.row(Purpose::pipeline_forward));
  p.settle();
  const ExchangePlayer* player = p.view->player();
  REQUIRE(player->exchange()->size() == 2);
  CHECK(player->height() == player->height_for(player->width(), player->height()));
  CHECK(player->height() < 360);
  CHECK(player->member_box(0).top() < 140);
  // The map uses the full height of its space; it is not a square in a corner.
  const HeatMap* map = p.view->heat_map();
  CHECK(map->geometry().bottom() - (map->y() + map->cell_rect(3, 3).bottom()) < 24);
}

TEST_CASE("In a small view one part is shown at a time, chosen by its button") {
  Place p;
  p.view->resize(700, 260);
  CHECK(p.view->list()->isVisible());
  CHECK_FALSE(p.view->player()->isVisible());
  CHECK_FALSE(p.view->heat_map()->isVisible());
  for (QToolButton* button : p.view->findChildren<QToolButton*>())
    if (button->text() == "Rank to rank") QTest::mouseClick(button, Qt::LeftButton);
  CHECK_FALSE(p.view->list()->isVisible());
  CHECK(p.view->heat_map()->isVisible());
  p.view->resize(1200, 760);
  CHECK(p.view->list()->isVisible());
  CHECK(p.view->player()->isVisible());
  CHECK(p.view->heat_map()->isVisible());
}

TEST_CASE("A veiled view shows none of its parts") {
  Place p;
  p.view->set_veiled(true);
  CHECK_FALSE(p.view->list()->isVisible());
  CHECK_FALSE(p.view->player()->isVisible());
  CHECK_FALSE(p.view->heat_map()->isVisible());
}

TEST_CASE("Every number at the map is centred on its rank's cells, and both axes have the same numbers") {
  application();
  const int ranks = GENERATE(4, 64, 200, 1024);
  const auto [size, smallest] =
      GENERATE(std::pair{QSize(643, 580), 11}, std::pair{QSize(400, 340), 13}, std::pair{QSize(900, 850), 11});
  LinkMatrix matrix;
  matrix.predicted.ranks = ranks;
  matrix.predicted.side = std::min(ranks, 256);
  matrix.predicted.bytes.assign(static_cast<std::size_t>(matrix.predicted.side * matrix.predicted.side), 1e6);
  HeatMap map;
  map.resize(size);
  map.set_smallest(smallest);
  map.set_matrix(std::make_shared<const LinkMatrix>(matrix), "all traffic");
  const HeatMap::Ticks ticks = map.ticks();
  REQUIRE(ticks.rows.size() >= 2);
  REQUIRE(ticks.rows.size() == ticks.columns.size());
  INFO(ranks << " ranks in " << size.width() << " x " << size.height());
  for (std::size_t i = 0; i < ticks.rows.size(); ++i) {
    const HeatMap::Tick &row = ticks.rows[i], &column = ticks.columns[i];
    const QRectF cell = map.cell_rect(row.cell, row.cell);
    CHECK(row.cell == column.cell);
    CHECK(row.box.center().y() == Approx(cell.center().y()));
    CHECK(column.box.center().x() == Approx(cell.center().x()));
    CHECK(row.box.left() >= 0);
    CHECK(row.box.right() < map.cell_rect(0, 0).left());
    CHECK(column.box.bottom() <= map.cell_rect(0, 0).top() + 1);
    CHECK_FALSE(row.box.intersects(column.box));
    if (i == 0) continue;
    CHECK(row.box.top() >= ticks.rows[i - 1].box.bottom() - 0.01);
    CHECK(column.box.left() > ticks.columns[i - 1].box.right());
  }
  // Painted parts are at their reported positions.
  for (const PaintedText& text : painted_texts(map))
    for (const HeatMap::Tick& tick : ticks.columns)
      if (text.words == QString::number(matrix.predicted.first_rank(tick.cell)) &&
          text.box.bottom() < map.cell_rect(0, 0).top() + 3)
        CHECK(std::fabs(text.box.center().x() - tick.box.center().x()) < 1.5);
}

TEST_CASE("Without a run the table omits the sent bytes and shows the prediction") {
  Place p;
  CHECK(p.view->list()->isColumnHidden(TrafficModel::sent));
  CHECK_FALSE(p.view->list()->isColumnHidden(TrafficModel::predicted));
  CHECK_FALSE(p.view->list()->isColumnHidden(TrafficModel::algorithm));  // its collectives have one
}

TEST_CASE("A table that scrolls its rows has all its columns beside the bar") {
  Place p("data = 2\ntensor = 2\npipeline = 2\nmicro_batches = 4");
  REQUIRE(p.view->model().rowCount() >= 6);
  p.view->resize(1040, 460);
  CHECK(wait_until([&] { return p.view->list()->verticalScrollBar()->maximum() > 0; }));
  CHECK(wait_until([&] { return p.view->list()->horizontalScrollBar()->maximum() == 0; }));
  CHECK(p.view->list()->viewport()->height() % p.view->list()->rowHeight(0) == 0);  // no row is cut
  CHECK(p.view->list()->horizontalHeader()->length() <= p.view->list()->viewport()->width());
}

TEST_CASE("All that is known of an opaque collective is shown, with its reasons, in a presentation too") {
  const std::string plan = GENERATE("pipeline = 4\nmicro_batches = 4", "data = 2\npipeline = 2\nmicro_batches = 4",
                                    "data = 4\ntensor = 2\npipeline = 2\nmicro_batches = 4");
  Place p(plan + "\ncollective = \"auto\"");
  const QSize size = GENERATE(QSize(1280, 800), QSize(1040, 585), QSize(1920, 1080));
  p.view->resize(size);
  p.view->set_presentation(size.width() == 1040 ? 24.0 / 13 : 1);
  for (std::size_t row = 0; row < p.view->model().lines().size(); ++row) {
    if (!is_collective(p.view->model().lines()[row].kind)) continue;
    p.view->list()->selectRow(static_cast<int>(row));
    p.settle();
    const GroupExchange* exchange = p.view->player()->exchange();
    REQUIRE(exchange != nullptr);
    REQUIRE(exchange->opaque);
    const QString explanation = p.explanation();
    INFO(plan << ", " << size.width() << ": " << explanation.toStdString());
    CHECK(explanation.contains("Phases unknown"));
    for (const ExchangeFact& fact : facts_of(*exchange)) {
      if (fact.name == "algorithm") continue;  // the explanation also states it
      CHECK(explanation.contains(fact.name + ' ' + fact.value.simplified()));
      CHECK(explanation.contains(fact.why.simplified()));
    }
    // The total duration is not read as the begin.
    const PaintedText *zero = nullptr, *foot = nullptr;
    const auto texts = painted_texts(*p.view->player());
    for (const PaintedText& text : texts) {
      if (text.words == "0") zero = &text;
      if (text.words == "waiting + moving") foot = &text;
    }
    REQUIRE(zero != nullptr);
    REQUIRE(foot != nullptr);
    for (const PaintedText& text : texts)
      if (&text != zero && &text != foot && std::fabs(text.box.center().y() - zero->box.center().y()) < 2 &&
          text.box.right() < foot->box.left())
        CHECK(text.box.left() > zero->box.right());
    for (std::size_t i = 0; i < texts.size(); ++i)
      for (std::size_t j = i + 1; j < texts.size(); ++j) {
        INFO(texts[i].words.toStdString() << " over " << texts[j].words.toStdString());
        CHECK_FALSE(texts[i].box.adjusted(1, 2, -1, -2).intersects(texts[j].box.adjusted(1, 2, -1, -2)));
      }
  }
}

TEST_CASE("The meaning of a cell of a ring's members is also shown in a presentation") {
  Place p("data = 4\nmicro_batches = 2\ncollective = \"ring\"");
  const QSize size = GENERATE(QSize(1280, 800), QSize(1040, 585), QSize(1920, 1080));
  p.view->resize(size);
  p.view->set_presentation(size.width() == 1040 ? 24.0 / 13 : 1);
  p.view->list()->selectRow(p.row(Purpose::data_gradient));
  p.settle();
  REQUIRE(p.view->player()->exchange()->size() == 4);
  const QString explanation = p.explanation();
  INFO(explanation.toStdString());
  CHECK(explanation.contains("A cell is a chunk of the buffer"));
  CHECK(explanation.contains("it has all 4."));
  for (int a = 0; a < 4; ++a)
    for (int b = a + 1; b < 4; ++b)
      CHECK_FALSE(p.view->player()->member_box(a).intersects(p.view->player()->member_box(b)));
}

TEST_CASE("A parameter server's message is named by its content, which its id does not have") {
  Place p("data = 4\ndata_parallel = \"parameter-server\"\nservers = 1");
  CHECK(p.explanation().startsWith("Send of gradients to a server"));
  const OpId op = p.view->player()->exchange()->op;
  p.state.set_selected(SpanRef{4, p.figures.latest()->forecast->step, op, Obtained::simulated});
  p.settle();
  REQUIRE(p.view->player()->exchange()->ranks.front() == 4);
  CHECK(p.explanation().startsWith("Send of parameters from a server"));
}
