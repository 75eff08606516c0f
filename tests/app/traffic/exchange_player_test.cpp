// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/exchange_player.hpp"

#include <QTest>
#include <cmath>

#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "app/views/traffic/facts_table.hpp"
#include "app/views/traffic/heat_map.hpp"
#include "engine/plan/program/link.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"
#include "tests/engine/predict/simulate/pipelines.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

constexpr const char* reduce_token = "ALLREDUCE.data_gradient:c0:i0";
constexpr int n = 4;

std::vector<RankProgram> replicas() {
  std::vector<RankProgram> programs(n);
  for (int r = 0; r < n; ++r) {
    programs[static_cast<std::size_t>(r)].rank = r;
    add_collective(programs[static_cast<std::size_t>(r)], reduce_token, GroupKind::data, 4096);
  }
  return programs;
}

/// A ring of four whose phase p ran from 100 p to 100 p + 80 µs.
std::shared_ptr<const GroupExchange> ring(bool timed = true) {
  const RankGrid grid{1, n, 1};
  const OpId op = parse_token(reduce_token).value();
  std::vector<PhaseSpan> phases;
  const auto plain = exchange_of(link(replicas(), grid), Algorithm::ring, {}, {}, 0, 3, op);
  for (const ExchangeMove& move : plain->moves)
    phases.push_back({move.to, 3, op, move.phase, move.first_chunk, move.from, move.to, move.bytes,
                      move.phase * 100'000, move.phase * 100'000 + 80'000});
  return std::make_shared<const GroupExchange>(
      *exchange_of(link(replicas(), grid), Algorithm::ring, {}, timed ? phases : std::vector<PhaseSpan>{}, 0, 3, op));
}

struct Played {
  explicit Played(std::shared_ptr<const GroupExchange> exchange) {
    player.resize(900, 480);
    player.set_exchange(std::move(exchange));
    player.show();
  }
  QImage picture() { return player.grab().toImage(); }
  QApplication& first = application();  // before any widget
  ExchangePlayer player;
};

int mark_pixels(const QImage& picture, const QRectF& area) {
  const QRgb mark = palette_of(Theme::dark).of(SpanClass::collective);
  int count = 0;
  for (int y = static_cast<int>(area.top()); y < static_cast<int>(area.bottom()); ++y)
    for (int x = static_cast<int>(area.left()); x < static_cast<int>(area.right()); ++x)
      count += picture.pixel(x, y) == mark;
  return count;
}

}  // namespace

TEST_CASE("The buttons step from phase to phase, and not beyond the ends") {
  Played p(ring());
  CHECK(p.player.time().length() == 6);
  QTest::mouseClick(p.player.back_button(), Qt::LeftButton);
  CHECK(p.player.moment() == 0);
  for (int phase = 1; phase <= 6; ++phase) {
    QTest::mouseClick(p.player.forward_button(), Qt::LeftButton);
    CHECK(p.player.moment() == Approx(phase));
  }
  QTest::mouseClick(p.player.forward_button(), Qt::LeftButton);
  CHECK(p.player.moment() == 6);
  QTest::mouseClick(p.player.back_button(), Qt::LeftButton);
  CHECK(p.player.moment() == Approx(5));
}

TEST_CASE("The keys have the same effect as the buttons") {
  Played p(ring());
  p.player.set_moment(0);
  QTest::keyClick(&p.player, Qt::Key_Period);
  CHECK(p.player.moment() == Approx(1));
  QTest::keyClick(&p.player, Qt::Key_Comma);
  CHECK(p.player.moment() == Approx(0));
  QTest::keyClick(&p.player, Qt::Key_Space);
  CHECK(p.player.playing());
  QTest::keyClick(&p.player, Qt::Key_Space);
  CHECK_FALSE(p.player.playing());
}

TEST_CASE("The exchange plays at the selected speed, pauses, and stops at the end") {
  Played p(ring());
  p.player.set_moment(0);
  p.player.speeds()->setCurrentText("5 phases/s");
  QElapsedTimer since;
  since.start();
  QTest::mouseClick(p.player.play_button(), Qt::LeftButton);
  REQUIRE(QTest::qWaitFor([&] { return p.player.moment() > 1; }, 60'000));
  const double phases = p.player.moment(), seconds = static_cast<double>(since.nsecsElapsed()) * 1e-9;
  CHECK(phases <= 5 * seconds + 0.01);
  CHECK(phases >= 1);
  QTest::mouseClick(p.player.play_button(), Qt::LeftButton);
  const double paused = p.player.moment();
  QTest::qWait(60);
  CHECK(p.player.moment() == paused);
  p.player.set_moment(5.9);
  QTest::mouseClick(p.player.play_button(), Qt::LeftButton);
  REQUIRE(QTest::qWaitFor([&] { return !p.player.playing(); }, 60'000));
  CHECK(p.player.moment() == 6);
}

TEST_CASE("Recorded times are played as they were: a moment keeps its share when the clock changes") {
  Played p(ring());
  p.player.set_moment(3);
  p.player.speeds()->setCurrentText("1/10,000 \u00d7");
  CHECK(p.player.time().clock() == PlayClock::recorded);
  CHECK(p.player.time().length() == 580'000);  // five phases of 100 µs, and 80
  CHECK(p.player.moment() == Approx(290'000));
  CHECK(p.player.time().phase_at(290'000) == 2);
  const ExchangeMove& first = p.player.exchange()->moves.front();
  CHECK(p.player.time().done(first, 40'000) == Approx(0.5));
  CHECK(p.player.time().done(first, 90'000) == 1);
}

TEST_CASE("What was not recorded plays by phases, whatever speed is chosen") {
  Played p(ring(false));
  p.player.speeds()->setCurrentText("1/10 \u00d7");
  CHECK(p.player.time().clock() == PlayClock::phases);
  CHECK(p.player.time().length() == 6);
}

TEST_CASE("Before the first phase every cell is a quarter full, after the last one all are full") {
  Played p(ring());
  p.player.set_moment(0);
  const QImage before = p.picture();
  p.player.set_moment(6);
  const QImage after = p.picture();
  for (int m = 0; m < n; ++m) {
    const int some = mark_pixels(before, p.player.member_box(m)), all = mark_pixels(after, p.player.member_box(m));
    INFO("rank " << m << ": " << some << " and " << all);
    CHECK(all > 100);
    CHECK(static_cast<double>(some) / all == Approx(0.25).margin(0.06));
  }
}

TEST_CASE("A chunk is painted between the ranks that it moves between") {
  Played p(ring());
  p.player.set_moment(0.5);
  const QPointF from = p.player.member_box(0).center(), to = p.player.member_box(1).center();
  const QPointF middle = (from + to) / 2;
  CHECK(mark_pixels(p.picture(), QRectF(middle.x() - 22, middle.y() - 22, 44, 44)) > 40);
  p.player.set_moment(6);
  CHECK(mark_pixels(p.picture(), QRectF(middle.x() - 22, middle.y() - 22, 44, 44)) == 0);
}

TEST_CASE("Members of a ring do not overlap, a tree's root is on top, and all are within the picture") {
  const QRectF area(10, 20, 400, 300);
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::tree, Algorithm::naive, Algorithm::halving_doubling})
    for (int members = 2; members <= 16; ++members) {
      GroupExchange exchange;
      exchange.kind = OpKind::all_reduce;
      exchange.algorithm = algorithm;
      exchange.ranks.resize(static_cast<std::size_t>(members));
      const auto places = member_places(exchange, area);
      REQUIRE(places.size() == static_cast<std::size_t>(members));
      for (std::size_t a = 0; a < places.size(); ++a) {
        INFO(name_of(algorithm) << " of " << members << ", member " << a);
        CHECK(area.adjusted(-1, -1, 1, 1).contains(places[a]));
        for (std::size_t b = 0; b < a; ++b)
          CHECK(std::hypot(places[a].x() - places[b].x(), places[a].y() - places[b].y()) > 20);
      }
      if (algorithm == Algorithm::tree && members > 2) CHECK(places[0].y() == area.top());
    }
}

TEST_CASE("Of an opaque collective the picture shows its members, and says that phases are unknown") {
  const RankGrid grid{1, n, 1};
  Played p(std::make_shared<const GroupExchange>(
      *exchange_of(link(replicas(), grid), {}, {}, {}, 0, 3, parse_token(reduce_token).value())));
  CHECK(p.player.exchange()->opaque);
  CHECK_FALSE(p.player.play_button()->isVisible());
  CHECK_FALSE(p.picture().isNull());
}

TEST_CASE("An opaque collective shows the last rank to arrive, the others' waiting times, and the bus bandwidth") {
  const OpId op = parse_token(reduce_token).value();
  // Rank r arrives at 10 r µs; from 30 µs on bytes move, on rank r for 60 + r µs.
  std::vector<Span> spans;
  for (int r = 0; r < n; ++r) spans.push_back({r, 3, op, r * 10'000, 30'000, 90'000 + r * 1000, -1});
  const auto exchange = exchange_of(link(replicas(), {1, n, 1}), {}, spans, {}, 0, 3, op);
  REQUIRE(exchange);
  const auto value_of = [&](const QString& name) {
    for (const ExchangeFact& fact : facts_of(*exchange))
      if (fact.name == name) return fact.value + QStringLiteral("; ") + fact.why;
    return QString();
  };
  CHECK(value_of("last to arrive") == "rank 3; " + text::nanoseconds(30'000) + " after rank 0");
  CHECK(value_of("waiting") == text::nanoseconds(15'000) + "; on average; at most " + text::nanoseconds(30'000));
  CHECK(value_of("moving bytes").startsWith(text::nanoseconds(60'000)));
  // 2 (n - 1) / n of the size over 60 µs, as in the table.
  const double bandwidth = static_cast<double>(exchange->bytes) * 2 * (n - 1) / n / 60e-6;
  CHECK(value_of("bus bandwidth").startsWith(text::bandwidth(bandwidth)));
  CHECK(exchange_times(link(replicas(), {1, n, 1}), spans).at(0).bus_bandwidth == Approx(bandwidth));
  spans.pop_back();
  CHECK(facts_of(*exchange_of(link(replicas(), {1, n, 1}), {}, spans, {}, 0, 3, op)).size() == 3);  // no times of it
}

TEST_CASE("Phases reported by a library are one line per channel under each rank's bar") {
  const RankGrid grid{1, n, 1};
  const OpId op = parse_token(reduce_token).value();
  std::vector<Span> spans;
  std::vector<PhaseSpan> phases;
  for (int rank = 0; rank < n; ++rank) {
    spans.push_back({rank, 3, op, 0, 100'000, 1'000'000, 0});
    for (int channel = 0; channel < 2; ++channel)
      phases.push_back({rank, 3, op, 0, channel, -1, -1, -1, 200'000, 900'000});
  }
  const auto lines_in = [](Played& p) {
    const QRgb line = palette_of(Theme::dark).text;
    const QImage picture = p.picture();
    int rows = 0;
    for (int y = 0; y < picture.height(); ++y) {
      int run = 0, longest = 0;
      for (int x = 0; x < picture.width(); ++x) {
        run = picture.pixel(x, y) == line ? run + 1 : 0;
        longest = std::max(longest, run);
      }
      rows += longest > 60 ? 1 : 0;
    }
    return rows;
  };
  Played without(std::make_shared<const GroupExchange>(*exchange_of(link(replicas(), grid), {}, spans, {}, 0, 3, op)));
  Played with(std::make_shared<const GroupExchange>(*exchange_of(link(replicas(), grid), {}, spans, phases, 0, 3, op)));
  CHECK(lines_in(without) == 0);
  CHECK(lines_in(with) >= 2 * n);
}

TEST_CASE("The map's cells are coloured by bytes, and its tool tip names them with their unit") {
  application();
  HeatMap map;
  map.resize(420, 360);
  map.set_matrix(
      std::make_shared<const LinkMatrix>(LinkMatrix{traffic_matrix(link(replicas(), {1, n, 1}), Algorithm::ring), {}}),
      "all");
  const QImage picture = map.grab().toImage();
  const QRectF sends = map.cell_rect(0, 1), silent = map.cell_rect(1, 0);
  const QRgb greatest = palette_of(Theme::dark).accent;
  CHECK(picture.pixel(sends.topLeft().toPoint() + QPoint(3, 3)) == greatest);
  CHECK(picture.pixel(silent.topLeft().toPoint() + QPoint(3, 3)) != greatest);
  CHECK(map.tip_at(sends.center().toPoint()) ==
        QString::fromUtf8("rank 0 to rank 1: 6.00\u00a0KiB per step, predicted"));
  CHECK(map.tip_at(silent.center().toPoint()) == QString::fromUtf8("rank 1 to rank 0: 0\u00a0B per step, predicted"));
  CHECK(map.tip_at({2, 2}).isEmpty());
}

TEST_CASE("No phase's text is longer than the space reserved for it") {
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::tree, Algorithm::naive, Algorithm::halving_doubling}) {
    const auto exchange =
        exchange_of(link(replicas(), {1, n, 1}), algorithm, {}, {}, 0, 3, parse_token(reduce_token).value());
    REQUIRE(exchange);
    for (int phase = 0; phase < exchange->phases; ++phase)
      CHECK(phase_words(*exchange, phase).size() <= longest_phase_words(*exchange).size());
  }
}
