#include "app/views/timeline/timeline_view.hpp"

#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <set>

#include "tests/app/models/known_run.hpp"
#include "tests/app/painted_text.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/app/session/sources.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

// Two ranks, two micro-batches, one step of a millisecond and the begin of the next.
std::unique_ptr<KnownRun> two_stages() {
  auto run = std::make_unique<KnownRun>();
  run->span(0, 0, "F:c0:m0", 0, 100).span(0, 0, "F:c0:m1", 100, 200);
  run->span(0, 0, "B:c0:m0", 500, 700).span(0, 0, "B:c0:m1", 800, 1000);
  run->span(1, 0, "F:c1:m0", 110, 210).span(1, 0, "B:c1:m0", 210, 410);
  run->span(1, 0, "F:c1:m1", 410, 510).span(1, 0, "B:c1:m1", 510, 710);
  run->span(0, 0, "SEND.pipeline_forward:c0:m0", 100, 110, 100);
  run->span(1, 0, "RECV.pipeline_forward:c1:m0", 0, 110, 100);
  for (const int rank : {0, 1}) run->span(rank, 1, "F:c" + std::to_string(rank) + ":m0", 1000, 1100);
  run->predicted(0, 0, "F:c0:m0", 0, 80).predicted(0, 0, "F:c0:m1", 80, 160).predicted(0, 0, "B:c0:m0", 450, 640);
  return run;
}

struct Fixture {
  explicit Fixture(std::unique_ptr<KnownRun> known = two_stages(), QSize size = {1100, 420})
      : run(std::move(known)),
        source((application(), run->view())),
        navigator(state, source),
        view(state, source, navigator, nullptr) {
    view.resize(size);
    view.show();
    navigator.show_step(0);
    settle();
  }
  void settle() {
    REQUIRE(QTest::qWaitFor([&] { return view.settled(); }, 60'000));
    picture = view.grab().toImage();
  }
  QColor colour(int rank, double us) {
    const QPoint at = view.point_of(rank, KnownRun::ns(us));
    // Beside a box's label, which is in its middle.
    return picture.pixelColor(
        at.x(), at.y() - view.rows().rows[*view.rows().find(rank, RowKind::compute, Lane::compute)].height / 2 + 2);
  }
  void key(Qt::Key k) {
    QTest::keyClick(&view, k);
    settle();
  }

  std::unique_ptr<KnownRun> run;
  HeldSource source;
  SharedState state;
  Navigator navigator;
  TimelineView view;
  QImage picture;
};

QColor of(SpanClass kind, Theme theme = Theme::dark) { return QColor::fromRgba(palette_of(theme).of(kind)); }

}  // namespace

TEST_CASE("boxes are painted where their times are") {
  Fixture f;
  CHECK(f.colour(0, 20) == of(SpanClass::forward));
  CHECK(f.colour(0, 180) == of(SpanClass::forward));
  CHECK(f.colour(0, 520) == of(SpanClass::backward));
  CHECK(f.colour(1, 220) == of(SpanClass::backward));
  CHECK(f.colour(1, 430) == of(SpanClass::forward));
  for (const double idle : {300.0, 750.0}) {
    const QColor c = f.colour(0, idle);
    INFO(idle << " " << c.name().toStdString());
    CHECK((c == QColor::fromRgba(palette_of(Theme::dark).ground) ||
           c == QColor::fromRgba(palette_of(Theme::dark).hatch)));
  }
}

TEST_CASE("the light theme repaints everything in its own colours") {
  Fixture f;
  f.view.set_theme(Theme::light);
  f.settle();
  CHECK(f.colour(0, 20) == of(SpanClass::forward, Theme::light));
  CHECK(f.picture.pixelColor(2, 2) == QColor::fromRgba(palette_of(Theme::light).ground));
}

TEST_CASE("the wheel zooms at the pointer") {
  Fixture f;
  const QPoint at = f.view.point_of(0, 250'000);
  const TimeRange before = f.state.visible();
  QWheelEvent wheel(at, f.view.mapToGlobal(at), {}, {0, 120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
  QApplication::sendEvent(&f.view, &wheel);
  CHECK(f.state.visible().length() == Approx(0.8 * static_cast<double>(before.length())).epsilon(0.01));
  CHECK(std::abs(f.view.point_of(0, 250'000).x() - at.x()) <= 1);
  CHECK(f.state.follow() == Follow::held);
  f.settle();
  CHECK(f.colour(0, 180) == of(SpanClass::forward));
}

TEST_CASE("dragging moves the picture with the pointer, to the pixel") {
  Fixture f;
  f.key(Qt::Key_W);
  f.key(Qt::Key_W);
  const std::int64_t held = f.state.visible().begin_ns + f.state.visible().length() / 2;
  const QPoint at = f.view.point_of(0, held);
  QTest::mousePress(&f.view, Qt::LeftButton, {}, at);
  for (const int by : {-30, -77, -120}) {
    QTest::mouseMove(&f.view, at + QPoint(by, 0));
    CHECK(std::abs(f.view.point_of(0, held).x() - (at.x() + by)) <= 1);
  }
  QTest::mouseRelease(&f.view, Qt::LeftButton, {}, at + QPoint(-120, 0));
  CHECK_FALSE(f.state.selected());  // a drag selects nothing
}

TEST_CASE("a click selects the op, and again beside it selects nothing") {
  Fixture f;
  QSignalSpy described(&f.view, &TimelineView::described);
  QTest::mouseClick(&f.view, Qt::LeftButton, {}, f.view.point_of(1, 300'000));
  REQUIRE(f.state.selected());
  CHECK(*f.state.selected() == SpanRef{1, 0, op("B:c1:m0"), Obtained::emulated});
  REQUIRE_FALSE(described.isEmpty());
  CHECK(described.last().first().toString().toStdString().rfind("B:c1:m0 · rank 1 · micro-batch 0", 0) == 0);
  QTest::mouseClick(&f.view, Qt::LeftButton, {}, f.view.point_of(1, 850'000));
  CHECK_FALSE(f.state.selected());
}

TEST_CASE("the card at the pointer says the time and the prediction") {
  Fixture f;
  QTest::mouseMove(&f.view, f.view.point_of(0, 50'000));
  REQUIRE(f.view.scene().hover);
  const auto& details = f.view.scene().hover->details;
  CHECK(details.title == "F:c0:m0 · rank 0 · micro-batch 0");
  REQUIRE(details.lines.size() >= 2);
  CHECK(details.lines[1] == "100 µs, predicted 80.0 µs, +25 %");
  CHECK(std::abs(*f.state.cursor() - 50'000) < 2 * 1'020'000 / f.view.layout_now().plot.width());
}

TEST_CASE("the card at the pointer is above the rows, whichever rank the pointer is on: it covers none") {
  Fixture f;
  for (const int rank : {0, 1}) {
    const QPoint at = f.view.point_of(rank, 150'000);
    QTest::mouseMove(&f.view, at);
    REQUIRE(f.view.scene().hover);
    const auto details = f.view.scene().hover->details;
    int found = 0;
    for (const PaintedText& text : painted_texts(f.view)) {
      const std::string words = text.words.toStdString();
      if (words != details.title && std::find(details.lines.begin(), details.lines.end(), words) == details.lines.end())
        continue;
      INFO("rank " << rank << ": " << words);
      ++found;
      CHECK(text.box.bottom() <= f.view.layout_now().plot.top());
      CHECK(text.box.left() >= 0);
      CHECK(text.box.right() <= f.view.width());
    }
    CHECK(found >= 1 + static_cast<int>(details.lines.size()));  // the first one is also in the header
  }
}

TEST_CASE("shift and drag select a range, with its statistics") {
  Fixture f;
  const QPoint from = f.view.point_of(0, 0), to = f.view.point_of(0, 400'000);
  QTest::mousePress(&f.view, Qt::LeftButton, Qt::ShiftModifier, from);
  QMouseEvent move(QEvent::MouseMove, QPointF(to), f.view.mapToGlobal(to), Qt::NoButton, Qt::LeftButton,
                   Qt::ShiftModifier);
  QApplication::sendEvent(&f.view, &move);
  QTest::mouseRelease(&f.view, Qt::LeftButton, Qt::ShiftModifier, to);
  const double pixel = 1'020'000.0 / f.view.layout_now().plot.width();
  CHECK(std::fabs(static_cast<double>(f.state.selected_range().begin_ns)) <= pixel);
  CHECK(std::fabs(static_cast<double>(f.state.selected_range().end_ns) - 400'000) <= pixel);
  // Rank 0 computes 200 of 400 µs, rank 1 290: forward 37.5 %, backward 23.75 %, idle 38.75 %.
  const std::string words = f.view.scene().details.toStdString();
  INFO(words);
  CHECK(words.find("idle 38.") != std::string::npos);
  CHECK(words.find("forward 37.") != std::string::npos);
}

TEST_CASE("the keys zoom, move, fit, walk through the ops and the steps") {
  Fixture f;
  const TimeRange whole = f.state.visible();
  f.key(Qt::Key_W);
  CHECK(static_cast<double>(f.state.visible().length()) ==
        Approx(static_cast<double>(whole.length()) / 1.35).epsilon(0.01));
  const TimeRange zoomed_in = f.state.visible();
  f.key(Qt::Key_D);
  CHECK(f.state.visible().begin_ns > zoomed_in.begin_ns);
  CHECK(f.state.visible().length() == zoomed_in.length());
  f.key(Qt::Key_A);
  CHECK(f.state.visible() == zoomed_in);
  f.key(Qt::Key_S);
  CHECK(static_cast<double>(f.state.visible().length()) == Approx(static_cast<double>(whole.length())).epsilon(0.01));
  f.key(Qt::Key_F);
  CHECK(f.state.visible() == whole);

  f.key(Qt::Key_Period);
  CHECK(f.state.selected()->op == op("F:c0:m0"));
  f.key(Qt::Key_Period);
  f.key(Qt::Key_Period);
  CHECK(f.state.selected()->op == op("B:c0:m0"));
  f.key(Qt::Key_Comma);
  CHECK(f.state.selected()->op == op("F:c0:m1"));
  f.key(Qt::Key_Down);
  CHECK(f.state.selected()->rank == 1);
  f.key(Qt::Key_R);
  CHECK(f.state.selected_range().length() == 100'000);
  f.key(Qt::Key_Escape);
  CHECK_FALSE(f.state.selected());
  CHECK(f.state.selected_range().empty());
  f.key(Qt::Key_BracketRight);
  CHECK(f.state.step() == 1u);
  f.key(Qt::Key_BracketLeft);
  CHECK(f.state.step() == 0u);
}

TEST_CASE("an op of the selected message is joined to its other end") {
  Fixture f;
  f.state.set_selected(SpanRef{0, 0, op("F:c0:m0"), Obtained::emulated});
  REQUIRE(f.view.scene().links.size() == 1);
  CHECK(f.view.scene().links[0].from.rank == 0);
  CHECK(f.view.scene().links[0].to.rank == 1);
  CHECK(f.view.scene().links[0].to.span.op == op("RECV.pipeline_forward:c1:m0"));
}

TEST_CASE("the debugger's keys go from op to op over all ranks, with the cursor where the op begins") {
  Fixture f;
  f.state.set_selected(SpanRef{0, 0, op("F:c0:m1"), Obtained::emulated});
  // At 100 µs rank 0 computes further, and then sends; at 110 µs rank 1 begins.
  f.key(Qt::Key_N);
  CHECK(f.state.selected()->op == op("SEND.pipeline_forward:c0:m0"));
  f.key(Qt::Key_N);
  CHECK(*f.state.selected() == SpanRef{1, 0, op("F:c1:m0"), Obtained::emulated});
  CHECK(f.state.cursor() == 110'000);
  f.key(Qt::Key_P);
  f.key(Qt::Key_P);
  CHECK(*f.state.selected() == SpanRef{0, 0, op("F:c0:m1"), Obtained::emulated});
}

TEST_CASE("a click on a rank's label folds it, another opens it") {
  Fixture f;
  std::vector<int> pointed;
  QObject::connect(&f.view, &DataView::rank_pointed, [&](int rank) { pointed.push_back(rank); });
  const std::size_t before = f.view.rows().bands[1].row_count;
  REQUIRE(before > 1);
  const QPoint label(f.view.layout_now().labels.left() + 4, f.view.point_of(1, 0).y());
  QTest::mouseClick(&f.view, Qt::LeftButton, {}, label);
  CHECK(f.view.rows().bands[1].row_count == 1);
  CHECK(f.view.rows().bands[0].row_count > 1);
  QTest::mouseClick(&f.view, Qt::LeftButton, {}, {label.x(), f.view.point_of(1, 0).y()});
  CHECK(f.view.rows().bands[1].row_count == before);
  CHECK(pointed == std::vector<int>{1, 1});  // it also points at the rank
}

TEST_CASE("more than thirty-two ranks are heat rows by group, and a click on a group's name opens it") {
  auto run = std::make_unique<KnownRun>();
  // Ranks 0 to 15 compute forward all the time, 16 to 31 backward, 32 to 39 a half each and are otherwise idle.
  for (int rank = 0; rank < 40; ++rank) {
    if (rank < 16) run->span(rank, 0, "F:c0:m0", 0, 1000);
    if (rank >= 16 && rank < 32) run->span(rank, 0, "B:c0:m0", 0, 1000);
    if (rank >= 32) run->span(rank, 0, "F:c0:m0", 0, 500).span(rank, 0, "B:c0:m0", 500, 1000);
  }
  Fixture f(std::move(run));
  REQUIRE(f.view.rows().bands.size() == 3);  // no plan is known: blocks of sixteen
  CHECK(f.view.rows().bands[1].group == 1);
  CHECK(f.colour(3, 700) == of(SpanClass::forward));
  CHECK(f.colour(20, 200) == of(SpanClass::backward));
  CHECK(f.colour(35, 200) == of(SpanClass::forward));
  CHECK(f.colour(35, 800) == of(SpanClass::backward));

  QTest::mouseMove(&f.view, f.view.point_of(20, 500'000));
  REQUIRE(f.view.scene().hover);
  CHECK(f.view.scene().hover->details.title == "ranks 16–31 · 16 ranks");
  CHECK(f.view.scene().hover->details.lines[0].find("backward 100.0 %") != std::string::npos);
  // The meaning of a bar's height is in the card, and below the rows without a card.
  CHECK(f.view.scene().hover->details.lines[1].find("height") != std::string::npos);
  const auto texts = painted_texts(f.view);
  CHECK(std::any_of(texts.begin(), texts.end(),
                    [](const PaintedText& text) { return text.words.contains("heights are shares of its ranks"); }));
  QTest::mouseClick(&f.view, Qt::LeftButton, {}, f.view.point_of(20, 500'000));
  CHECK_FALSE(f.state.selected());  // an op there belongs to no single rank

  const QPoint label(f.view.layout_now().labels.left() + 4, f.view.point_of(20, 0).y());
  QTest::mouseClick(&f.view, Qt::LeftButton, {}, label);
  f.settle();
  REQUIRE(f.view.rows().bands.size() == 19);
  CHECK(f.view.rows().rows[*f.view.rows().find(20, RowKind::compute, Lane::compute)].rank_count == 1);
  const RankBand* band = f.view.rows().band_of(16);
  REQUIRE(band);
  QTest::mouseClick(&f.view, Qt::LeftButton, {}, f.view.point_of(16, 500'000));
  REQUIRE(f.state.selected());
  CHECK(*f.state.selected() == SpanRef{16, 0, op("B:c0:m0"), Obtained::emulated});
}

TEST_CASE("a pinned rank stays at the top while the others scroll under it, in rows and in pixels") {
  auto run = std::make_unique<KnownRun>();
  for (int rank = 0; rank < 30; ++rank) run->span(rank, 0, rank == 17 ? "B:c0:m0" : "F:c0:m0", 0, 1000);
  Fixture f(std::move(run), {900, 260});
  f.state.set_selected(SpanRef{17, 0, op("B:c0:m0"), Obtained::emulated});
  f.key(Qt::Key_T);
  REQUIRE(f.view.row_choice().pinned.count(17) == 1);
  REQUIRE(f.view.rows().bands[0].rank == 17);
  const QPoint at = f.view.point_of(17, 500'000);
  CHECK(f.picture.pixelColor(at) == of(SpanClass::backward));
  f.state.set_selected(std::nullopt);
  f.key(Qt::Key_PageDown);
  REQUIRE(f.view.scene().scroll > 0);
  CHECK(f.view.point_of(17, 500'000) == at);
  CHECK(f.picture.pixelColor(at) == of(SpanClass::backward));
  // Nothing of another rank is painted at the pinned ones.
  const QRect plot = f.view.layout_now().plot;
  for (int y = 0; y < f.view.rows().pinned_height - 1; ++y)
    REQUIRE(f.picture.pixelColor(plot.center().x(), plot.top() + y) != of(SpanClass::forward));
  QTest::mouseClick(&f.view, Qt::LeftButton, {}, at);
  REQUIRE(f.state.selected());
  CHECK(f.state.selected()->rank == 17);
  f.key(Qt::Key_T);
  CHECK(f.view.row_choice().pinned.empty());
  CHECK(f.view.rows().bands[0].rank == 0);
}

TEST_CASE("where the legend does not fit beside the summary, it has a line of its own, with all its entries") {
  Fixture wide(two_stages(), {1400, 420}), narrow(two_stages(), {420, 420});
  CHECK(wide.view.layout_now().legend.isEmpty());
  CHECK_FALSE(narrow.view.layout_now().legend.isEmpty());
  CHECK(narrow.view.layout_now().legend.top() >= narrow.view.layout_now().header.bottom());
  for (Fixture* f : {&wide, &narrow}) {
    QString all;
    for (const PaintedText& text : painted_texts(f->view)) all += text.words + QLatin1Char('\n');
    INFO(all.toStdString());
    for (const char* name : {"forward", "backward", "send, receive"}) CHECK(all.contains(QLatin1String(name)));
  }
  narrow.view.resize(1400, 420);
  CHECK(narrow.view.layout_now().legend.isEmpty());
  narrow.view.resize(420, 420);
  CHECK_FALSE(narrow.view.layout_now().legend.isEmpty());
}

TEST_CASE("the table of a time line is the spans of the visible time") {
  Fixture f;
  f.state.set_visible({0, 205'000});
  const ViewTable table = f.view.table();
  std::set<QString> ops;
  for (const QStringList& row : table.rows) {
    REQUIRE(row.size() == table.titles.size());
    CHECK(row[5].toLongLong() < f.state.visible().end_ns);
    ops.insert(row[0] + row[3]);
  }
  CHECK(ops.count("0F:c0:m1") == 1);
  CHECK(ops.count("1RECV.pipeline_forward:c1:m0") == 1);
  CHECK(ops.count("0B:c0:m1") == 0);
}

TEST_CASE("a press in the overview brings that time to the middle") {
  Fixture f;
  for (int i = 0; i < 5; ++i) f.key(Qt::Key_W);
  const QRect area = f.view.layout_now().overview;
  QTest::mouseClick(&f.view, Qt::LeftButton, {}, {area.left() + area.width() * 3 / 4, area.center().y()});
  const TimeRange seen = f.state.visible();
  CHECK(static_cast<double>(seen.begin_ns + seen.length() / 2) == Approx(755'000).margin(12'000));
}

TEST_CASE("while a new picture is composed the old one is shown, moved to its position") {
  Fixture f;
  // Without an event loop turn in between, a new frame can only have been received by waiting in paint.
  for (int i = 0; i < 6; ++i) {
    QTest::keyClick(&f.view, Qt::Key_W);
    f.picture = f.view.grab().toImage();
    const TimeRange seen = f.state.visible();
    for (const auto& [us, kind] : {std::pair{520.0, SpanClass::backward}, std::pair{560.0, SpanClass::backward}}) {
      if (KnownRun::ns(us) <= seen.begin_ns || KnownRun::ns(us) >= seen.end_ns) continue;
      INFO("zoom " << i << " at " << us);
      const QColor c = f.colour(0, us), expected = of(kind);
      CHECK(std::abs(c.red() - expected.red()) + std::abs(c.green() - expected.green()) +
                std::abs(c.blue() - expected.blue()) <
            30);
    }
  }
}

TEST_CASE("an older picture covers only the visible part of its time") {
  Frame frame;
  frame.request.range = {1000, 2000};
  frame.request.width = 100;
  frame.request.height = 50;
  frame.pixels.resize(5000);
  const QRect place(10, 20, 100, 80);
  CHECK(covered_by(frame, place, {1000, 2000}) == place);
  CHECK(covered_by(frame, place, {1255, 2255}) == QRect(10, 20, 74, 50));   // to the left: 74.5 pixels are left
  CHECK(covered_by(frame, place, {745, 1745}) == QRect(36, 20, 74, 50));    // to the right, from 25.5
  CHECK(covered_by(frame, place, {500, 2500}) == QRect(35, 20, 50, 50));    // out
  CHECK(covered_by(frame, place, {1400, 1600}) == QRect(10, 20, 100, 50));  // in
  CHECK(covered_by(frame, place, {2000, 3000}).isEmpty());
  frame.pixels.clear();
  CHECK(covered_by(frame, place, {1000, 2000}).isEmpty());
}

TEST_CASE("labels of similar boxes in a lane have one form, except for a much narrower box") {
  const LabelFit wide{50, 0, 0}, tight{46, 0, 1}, narrow{20, 2, 2}, none{5, no_label, no_label};
  CHECK(form_of_lane({wide, wide, tight}) == 0);             // one pixel less margin is no reason for another form
  CHECK(form_of_lane({wide, tight, tight}) == 1);            // the form with a margin on most
  CHECK(form_of_lane({wide, wide, wide, narrow}) == 0);      // only the narrow one has a shorter label
  CHECK(form_of_lane({wide, wide, {40, 1, 1}}) == 1);        // one of similar width where it does not fit: all
  CHECK(form_of_lane({wide, none, none, none, none}) == 0);  // one without space for any label does not count
  CHECK(form_of_lane({}) == 0);
}

TEST_CASE("if workers are at different steps at one time, every box names its step") {
  Hello hello;
  hello.scenario_toml =
      "title = \"servers\"\n[model]\nlayers = 2\nwidth = 32\nheads = 2\ncontext = 16\nvocabulary = 64\n[plan]\ndata = "
      "2\n"
      "data_parallel = \"parameter-server\"\nservers = 1\nstaleness = 2\n[train]\nglobal_batch = 16\nsteps = 5\n";
  hello.ranks = 3;
  auto run = std::make_unique<KnownRun>();
  run->hello(hello);
  run->span(0, 0, "F:c0:m0", 0, 500).span(0, 0, "B:c0:m0", 500, 1000);
  run->span(1, 0, "F:c0:m0", 0, 200).span(1, 0, "B:c0:m0", 200, 500).span(1, 1, "B:c0:m0", 500, 1000);
  Fixture f(std::move(run));
  f.navigator.show_step(1);
  f.settle();
  QStringList words;
  for (const PaintedText& text : painted_texts(f.view)) words << text.words;
  INFO(words.join(", ").toStdString());
  CHECK(words.count("step 0") == 1);
  CHECK(words.count("step 1") == 1);
  CHECK(words.count("0") == 1);  // the axis' zero
}

TEST_CASE("labels keep within the view at any size") {
  for (const QSize size : {QSize(320, 160), QSize(640, 300), QSize(1920, 1080)}) {
    Fixture f(two_stages(), size);
    const auto& layout = f.view.layout_now();
    INFO(size.width() << " × " << size.height());
    CHECK(layout.plot.height() >= 40);
    CHECK(layout.plot.right() < size.width());
    CHECK(layout.labels.right() < layout.plot.left() + 1);
    CHECK_FALSE(f.picture.isNull());
  }
}

TEST_CASE("a source without data says so, and wakes up when data come") {
  auto run = std::make_unique<KnownRun>();
  Fixture f(std::move(run));
  CHECK(f.view.scene().rows->bands.empty());
  for (const Qt::Key k : {Qt::Key_W, Qt::Key_F, Qt::Key_Period, Qt::Key_BracketRight}) QTest::keyClick(&f.view, k);
  f.run = two_stages();
  f.source.hold(f.run->view());
  f.settle();
  CHECK(f.view.rows().bands.size() == 2);
}
