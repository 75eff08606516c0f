// A live run in the window, for a long time: 64 ranks report 200,000 events per second through publisher and relay, and
// the window follows at 1920 × 1080. Measures the time of frames, and whether memory stays constant.
//
//   live_bench [SECONDS [EVENTS_PER_SECOND]]      600 and 200,000
//
// A frame's time is from the window's request to repaint until it is painted and flushed. The CPU time of the painting
// thread is reported, too, because other programs on the machine do not lengthen it. Resident memory is sampled 20
// times (every half minute of ten minutes), and its growth is reported from 1/5 of the time (minute two) to the end.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QStyleFactory>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "app/shell/main_window.hpp"
#include "app/views/common/style.hpp"
#include "engine/execute/run/core_ticks.hpp"
#include "telemetry/relay/relay.hpp"
#include "telemetry/stream/publisher.hpp"

namespace {

using namespace rankscope;
using Clock = std::chrono::steady_clock;

constexpr int ranks = 64, ops_a_step = 200;

// Runs in its own process: publisher and relay, as in an engine.
void publish_run(const std::string& endpoint, double seconds, double events_a_second) {
  RelayOptions relay_options;
  relay_options.endpoint = endpoint;
  relay_options.session = {9};
  Relay relay(relay_options);
  PublisherOptions options;
  options.session = {9};
  options.relay = relay.worker_join();
  Publisher publisher(options);
  Hello hello;
  hello.title = "live, and long";
  hello.ranks = ranks;
  hello.steps = 1 << 30;
  publisher.control(0, hello);
  std::vector<LaneWriter*> lanes;
  for (int r = 0; r < ranks; ++r) lanes.push_back(&publisher.lane(r, Lane::compute));
  const auto begun = Clock::now();
  std::int64_t published = 0;
  std::uint32_t step = 0;
  int op = 0;
  while (Clock::now() - begun < std::chrono::duration<double>(seconds)) {
    const double passed = std::chrono::duration<double>(Clock::now() - begun).count();
    while (static_cast<double>(published) < passed * events_a_second) {
      const auto length = static_cast<std::int64_t>(1e9 * ranks / events_a_second);
      const std::int64_t begin = (std::int64_t{step} * ops_a_step + op) * length;
      const OpKind kind = op % 2 == 0 ? OpKind::forward : OpKind::backward;
      const OpId id = OpId::of({kind, Purpose::none, 0, op / 2, -1, Segment::whole, -1});
      for (int r = 0; r < ranks; ++r)
        lanes[static_cast<std::size_t>(r)]->span(
            {r, step, id, begin, begin, begin + length * (70 + (op + r) % 25) / 100, 0});
      published += ranks;
      if (++op == ops_a_step) {
        for (int r = 0; r < ranks; ++r) {
          StepSummary summary;
          summary.rank = r;
          summary.step = step;
          summary.begin_ns = std::int64_t{step} * ops_a_step * length;
          summary.end_ns = summary.begin_ns + ops_a_step * length;
          for (const Purpose purpose : {Purpose::tensor, Purpose::data_gradient, Purpose::pipeline_forward})
            summary.traffic.push_back({purpose, OpKind::all_reduce, 8, 1 << 20, 1 << 20, GroupKind::data});
          for (int to = 1; to <= 4; ++to) summary.sent.push_back({(r + to) % ranks, 3 << 18});
          publisher.summary(summary);
        }
        op = 0;
        ++step;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const PublisherStatus status = publisher.status();
  std::printf("told %lld events in %u steps, dropped %lld, kept from a slow relay %lld messages\n",
              static_cast<long long>(published), step, static_cast<long long>(status.dropped_events),
              static_cast<long long>(status.unsent_detail));
  std::fflush(stdout);
}

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  long pages = 0, resident = 0;
  statm >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// Counts durations in bins of a hundredth of a millisecond, so that a long run needs no more memory.
class Times {
 public:
  template <class Work>
  void time(Work work) {
    QElapsedTimer clock;
    clock.start();
    const double used = thread_ms();
    work();
    wall_.add(static_cast<double>(clock.nsecsElapsed()) * 1e-6);
    processor_.add(thread_ms() - used);
  }
  void print(const char* what) const {
    for (const auto& [name, times] : {std::pair{"wall", &wall_}, std::pair{"processor", &processor_}}) {
      std::printf("%-24s %-9s  median %6.2f ms   p99 %6.2f ms   max %7.2f ms   (%lld, %lld over 16 ms)\n", what, name,
                  times->at(0.5), times->at(0.99), times->most, times->count, times->over(16));
      what = "";
    }
  }

 private:
  struct Histogram {
    static constexpr double a_ms = 100;
    std::vector<std::int32_t> counts = std::vector<std::int32_t>(20'000);  // the last bin counts all that are longer
    double most = 0;
    long long count = 0;
    static std::size_t place(double ms) { return static_cast<std::size_t>(std::clamp(ms * a_ms, 0.0, 19'999.0)); }
    void add(double ms) {
      ++counts[place(ms)];
      ++count;
      most = std::max(most, ms);
    }
    double at(double share) const {
      long long left = static_cast<long long>(share * static_cast<double>(count - 1));
      std::size_t i = 0;
      while (i + 1 < counts.size() && (left -= counts[i]) >= 0) ++i;
      return std::min(static_cast<double>(i + 1) / a_ms, most);
    }
    long long over(double ms) const {
      long long sum = 0;
      for (std::size_t i = place(ms) + 1; i < counts.size(); ++i) sum += counts[i];
      return sum;
    }
  };
  Histogram wall_, processor_;
};

// Top-level widgets paint and flush within their UpdateRequest.
class FrameClock : public QObject {
 public:
  explicit FrameClock(QApplication& application) { application.installEventFilter(this); }
  Times times;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() != QEvent::UpdateRequest || inside_ || !watched->isWidgetType()) return false;
    inside_ = true;
    times.time([&] { watched->event(event); });
    inside_ = false;
    return true;
  }

 private:
  bool inside_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  setenv("QT_QPA_PLATFORM", "offscreen", 0);
  const double seconds = argc > 1 ? std::atof(argv[1]) : 600;
  const double rate = argc > 2 ? std::atof(argv[2]) : 200'000;
  const std::string folder = make_private_directory();
  const std::string endpoint = "ipc://" + folder + "/run";
  const pid_t child = fork();
  if (child == 0) {
    publish_run(endpoint, seconds + 2, rate);
    _exit(0);
  }

  QApplication application(argc, argv);
  QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  QApplication::setFont(app::interface_font());
  app::MainWindow window(app::SessionOptions{}, Theme::dark, false);
  window.resize(1920, 1080);
  window.show();
  window.open(QString::fromStdString(endpoint));
  FrameClock frames(application);
  QElapsedTimer clock;
  clock.start();
  const auto ticks = CoreTicks::now();
  Times turns;
  double early = 0;
  int looks = 0;
  while (static_cast<double>(clock.elapsed()) < seconds * 1000) {
    turns.time([] { QCoreApplication::processEvents(QEventLoop::AllEvents); });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (static_cast<double>(clock.elapsed()) < seconds * 50 * (looks + 1)) continue;
    ++looks;
    if (looks == 4) early = resident_mib();
    std::printf("%4.0f s: %.1f MiB\n", static_cast<double>(clock.elapsed()) * 1e-3, resident_mib());
    std::fflush(stdout);
  }
  const double late = resident_mib();
  const auto view = window.session().view();
  std::printf("%lld events came in %.0f s over %zu lanes, of which the latest %lld are kept; %lld were dropped\n",
              static_cast<long long>(view->event_count() + view->evicted_count()), seconds, view->lanes().size(),
              static_cast<long long>(view->event_count()), static_cast<long long>(view->dropped_count()));
  frames.times.print("frames");
  turns.print("turns of the event loop");
  std::printf("%.1f %% of the cores stolen by the hypervisor\n", 100 * ticks.stolen_since());
  std::printf("resident: %.0f MiB after %.0f s, %.0f MiB at the end (%+.1f %%)\n", early, seconds / 5, late,
              100 * (late / early - 1));
  kill(child, SIGTERM);
  waitpid(child, nullptr, 0);
  unlink((folder + "/run").c_str());
  rmdir(folder.c_str());
  return 0;
}
