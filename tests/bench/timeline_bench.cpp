// Costs of the time line: a million spans of 64 ranks at 1920 × 1080, from posted input to flushed backing store, on
// the wall clock.
//
//   timeline_bench [SPANS [RANKS]] [--heavy] [--while COMMAND]
//
// --heavy: ten million spans, those of heavy_run.hpp. --while: the command runs meanwhile, at nice 10, as the window
// starts its engine.
//
// "shown" is the first picture after the input: exact, or the previous one moved and stretched to the new range.
// "exact" is the first picture composed for the new range; if both are the same picture, their times are equal. Also
// printed: the CPU time of all threads of the window, which other programs on the machine do not lengthen, and the
// share of the cores that a hypervisor gave to other machines meanwhile.
#include <QApplication>
#include <QElapsedTimer>
#include <QMouseEvent>
#include <QProcess>
#include <QWheelEvent>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "app/views/timeline/timeline_view.hpp"
#include "engine/execute/run/core_ticks.hpp"
#include "tests/bench/heavy_run.hpp"
#include "tests/bench/store_run.hpp"

namespace {

using namespace rankscope;

class HeldSource : public SnapshotSource {
 public:
  explicit HeldSource(std::shared_ptr<const StoreView> view) : view_(std::move(view)) {}
  std::shared_ptr<const StoreView> view() const override { return view_; }

 private:
  std::shared_ptr<const StoreView> view_;
};

double milliseconds(const QElapsedTimer& clock) { return static_cast<double>(clock.nsecsElapsed()) * 1e-6; }

// Times one input: posted, handled, painted and flushed.
class Stopwatch : public QObject {
 public:
  Stopwatch(app::TimelineView& view, SharedState& state) : view_(view), state_(state) { view.installEventFilter(this); }

  void time(QEvent* event) {
    QElapsedTimer clock;
    clock.start();
    const std::clock_t used = std::clock();
    QCoreApplication::postEvent(&view_, event);
    painted_ = false;
    wait_for_paint(clock);
    shown_.push_back(milliseconds(clock));
    while (!exact() && milliseconds(clock) < 5000) wait_for_paint(clock);
    exact_.push_back(milliseconds(clock));
    used_.push_back(1000.0 * static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC);
    // Wait until the end of a 60 Hz frame, since a person's inputs are at least that far apart.
    while (milliseconds(clock) < 16) QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
  }

  void print(const char* what) {
    for (auto& [name, times] :
         {std::pair{"shown", &shown_}, std::pair{"exact", &exact_}, std::pair{"processor", &used_}}) {
      std::sort(times->begin(), times->end());
      const auto at = [&](double share) {
        return (
            *times)[std::min(times->size() - 1, static_cast<std::size_t>(share * static_cast<double>(times->size())))];
      };
      std::printf("%-28s %-9s  median %6.2f ms   p99 %6.2f ms   max %6.2f ms   (%zu inputs)\n", what, name, at(0.5),
                  at(0.99), times->back(), times->size());
      times->clear();
      what = "";
    }
    std::printf("%-28s %.1f %% of the cores stolen\n", "", 100 * ticks_.stolen_since());
    ticks_ = CoreTicks::now();
  }

  bool exact() const {
    const auto frame = view_.frame();
    return frame && frame->request.range == state_.visible() && frame->request.scroll == view_.scene().scroll;
  }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override {
    // A top-level widget paints and flushes while it handles this event, so it is done in the next turn of the loop.
    if (event->type() == QEvent::UpdateRequest) painted_ = true;
    return QObject::eventFilter(object, event);
  }

 private:
  void wait_for_paint(const QElapsedTimer& clock) {
    painted_ = false;
    while (!painted_ && milliseconds(clock) < 5000) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
  }

  app::TimelineView& view_;
  SharedState& state_;
  bool painted_ = false;
  CoreTicks ticks_ = CoreTicks::now();
  std::vector<double> shown_, exact_, used_;
};

QEvent* wheel(QPointF at, int angle) {
  return new QWheelEvent(at, at, {}, {0, angle}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
}

QEvent* mouse(QEvent::Type type, QPointF at) {
  return new QMouseEvent(type, at, at, type == QEvent::MouseMove ? Qt::NoButton : Qt::LeftButton,
                         type == QEvent::MouseButtonRelease ? Qt::NoButton : Qt::LeftButton, Qt::NoModifier);
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  bench::RunSize size;
  bool heavy = false;
  QString beside;
  std::vector<char*> numbers;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--heavy")
      heavy = true;
    else if (std::string(argv[i]) == "--while" && i + 1 < argc)
      beside = QString::fromLocal8Bit(argv[++i]);
    else
      numbers.push_back(argv[i]);
  }
  if (heavy) size.spans = 10'000'000;
  if (numbers.size() > 0) size.spans = std::atoll(numbers[0]);
  if (numbers.size() > 1) size.ranks = std::atoi(numbers[1]);

  QElapsedTimer clock;
  clock.start();
  RunStore store;
  const auto take = [&](const Message& message) { store.accept(message); };
  const std::int64_t spans =
      heavy ? bench::invent_heavy_run({size.spans, size.ranks}, take) : bench::invent_run(size, take);
  std::printf("%lld spans of %d ranks, %u threads; made and stored in %.0f ms\n", static_cast<long long>(spans),
              size.ranks, std::thread::hardware_concurrency(), milliseconds(clock));

  clock.restart();
  QApplication application(argc, argv);
  std::printf("application started in %.1f ms\n", milliseconds(clock));
  QProcess engine;
  if (!beside.isEmpty()) {
    engine.setStandardOutputFile(QProcess::nullDevice());
    engine.setStandardErrorFile(QProcess::nullDevice());
    engine.start("nice", QStringList{"-n", "10", "sh", "-c", "exec " + beside});
    engine.waitForStarted();
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
  clock.restart();
  HeldSource source(store.view());
  SharedState state;
  Navigator navigator(state, source);
  navigator.fit_all();
  app::TimelineView view(state, source, navigator, nullptr);
  view.resize(1920, 1080);
  Stopwatch stopwatch(view, state);
  view.show();
  while (!stopwatch.exact() || !view.settled()) QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
  std::printf("first full frame of all of it in %.1f ms after that, %zu rows\n", milliseconds(clock),
              view.rows().rows.size());

  state.hold();
  const TimeRange all = state.extent();
  const std::int64_t step = view.frame()->request.run->step_range(state.shown(), 1).value_or(all).length();
  const QPointF centre(1000, 500);
  for (const auto& [name, length] : {std::pair{"all", all.length()}, std::pair{"10 steps", 10 * step},
                                     std::pair{"1 step", step}, std::pair{"a tenth of a step", step / 10}}) {
    const std::int64_t middle = all.begin_ns + all.length() / 2;
    const TimeRange start{middle - length / 2, middle - length / 2 + length};
    state.set_visible(start);
    stopwatch.time(mouse(QEvent::MouseButtonPress, centre));
    stopwatch.print("  (press)");
    for (int i = 1; i <= 300; ++i)
      stopwatch.time(mouse(QEvent::MouseMove, centre + QPointF(i % 100 < 50 ? -i * 3 : i * 3 - 900, i % 2)));
    stopwatch.print((std::string("pan, ") + name).c_str());
    QCoreApplication::postEvent(&view, mouse(QEvent::MouseButtonRelease, centre));
    QCoreApplication::processEvents();
    state.set_visible(start);
    for (int i = 0; i < 300; ++i) stopwatch.time(wheel(centre, i % 20 < 10 ? 120 : -120));
    stopwatch.print((std::string("zoom, ") + name).c_str());
  }
  if (!beside.isEmpty()) {
    if (engine.state() != QProcess::Running) std::printf("what was to run meanwhile has ended before\n");
    engine.terminate();
    engine.waitForFinished();
  }
  return 0;
}
