// Time from a new process to the first complete frame of a recording in the window at 1920 × 1080: everything is read,
// every visible view has painted its data. Also the first frame of the empty window, and of the window opened on a lab.
//
//   window_open_bench RECORDING       for example one of a million events:
//                                     rankscope-engine run scenarios/labs/pipeline-1f1b.toml --steps 300 --record FILE
//   window_open_bench --heavy [SPANS]  a recording of ten million invented spans over 64 ranks (heavy_run.hpp)
//
// The peak resident memory is printed with each time.
#include <sys/resource.h>
#include <unistd.h>

#include <QApplication>
#include <QStyleFactory>
#include <QTimer>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "app/shell/main_window.hpp"
#include "app/views/common/style.hpp"
#include "telemetry/trace/trace_writer.hpp"
#include "tests/bench/heavy_run.hpp"

namespace {

using namespace rankscope;
using namespace rankscope::app;

constexpr int repeats = 7;
constexpr double limit_s = 30;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool there(const Session& session) {
  return session.state() == SessionState::empty || session.state() == SessionState::ready ||
         session.state() == SessionState::ended || session.state() == SessionState::failed;
}

// Runs in its own process: prints the seconds from `begun` to the first frame, and to the complete one.
int open(const QString& source, double begun, int count, char** arguments) {
  QApplication application(count, arguments);
  QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  QApplication::setFont(interface_font());
  MainWindow window(SessionOptions{}, Theme::light, false);
  window.resize(1920, 1080);
  window.show();
  QCoreApplication::processEvents();
  const double first = now() - begun;
  if (!source.isEmpty()) window.open(source);
  // The program's own event loop, which sleeps when it has nothing to do.
  QTimer look;
  QObject::connect(&look, &QTimer::timeout, [&] {
    if ((there(window.session()) && window.settled()) || now() - begun > limit_s) QCoreApplication::quit();
  });
  look.start(5);
  QApplication::exec();
  window.grab();  // paints what was not painted yet
  const double full = now() - begun;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%.6f %.6f %.1f\n", first, full, static_cast<double>(usage.ru_maxrss) / 1024);
  return window.session().state() == SessionState::failed;
}

void measure(const char* self, const char* what, const std::string& source) {
  std::vector<double> first, full;
  double most_mib = 0;
  for (int i = 0; i < repeats; ++i) {
    char begun[64];
    std::snprintf(begun, sizeof begun, "%.9f", now());
    const std::string command = std::string("'") + self + "' open '" + source + "' " + begun + " 2>/dev/null";
    FILE* child = popen(command.c_str(), "r");
    double a = 0, b = 0, mib = 0;
    if (child == nullptr || std::fscanf(child, "%lf %lf %lf", &a, &b, &mib) != 3) std::printf("%s: no answer\n", what);
    if (child != nullptr && pclose(child) != 0) std::printf("%s could not be opened\n", what);
    first.push_back(a);
    full.push_back(b);
    most_mib = std::max(most_mib, mib);
  }
  std::sort(first.begin(), first.end());
  std::sort(full.begin(), full.end());
  std::printf("%-28s window %.3f s, full frame %.3f s (medians of %d; %.3f to %.3f), at most %.0f MiB resident\n", what,
              first[repeats / 2], full[repeats / 2], repeats, full.front(), full.back(), most_mib);
  std::fflush(stdout);
}

void measure_heavy(const char* self, std::int64_t spans) {
  const std::string path = std::filesystem::temp_directory_path() / ("rankscope-heavy-" + std::to_string(getpid()));
  bench::HeavySize size;
  size.spans = spans;
  {
    TraceWriter writer(path);
    spans = bench::invent_heavy_run(size, [&](const Message& message) { writer.accept(message); });
    writer.close();
  }
  std::printf("%lld spans of %d ranks, %.1f bytes each\n", static_cast<long long>(spans), size.ranks,
              static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(spans));
  measure(self, "the heavy recording", path);
  std::filesystem::remove(path);
}

int run(int count, char** arguments) {
  setenv("QT_QPA_PLATFORM", "offscreen", 0);
  if (count == 4 && arguments[1] == std::string("open"))
    return open(QString::fromLocal8Bit(arguments[2]), std::atof(arguments[3]), count, arguments);
  if (count >= 2 && arguments[1] == std::string("--heavy")) {
    measure_heavy(arguments[0], count > 2 ? std::atoll(arguments[2]) : 10'000'000);
    return 0;
  }
  measure(arguments[0], "nothing", "");
  measure(arguments[0], "the default lab", RANKSCOPE_SOURCE_DIR "/scenarios/labs/pipeline-1f1b.toml");
  if (count == 2) measure(arguments[0], "the recording", arguments[1]);
  return 0;
}

}  // namespace

int main(int count, char** arguments) { return run(count, arguments); }
