// Time from a recording to the first complete frame: a new process reads the file into a store and composes 1920
// columns of every lane. Also the cost of recording. With one and with ten million spans, or the number in the
// argument.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "telemetry/store/run_store.hpp"
#include "telemetry/trace/trace_reader.hpp"
#include "tests/bench/store_run.hpp"

namespace rankscope::bench {
namespace {

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); }
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void open(const char* path) {
  const double begun = now();
  RunStore store;
  read_trace(path, store);
  const double read = now(), read_cpu = cpu_seconds();
  const auto view = store.view();
  std::vector<PixelShare> pixels(1920);
  for (const LaneKey& lane : view->lanes()) view->shares(lane, view->extent(lane.obtained), pixels);
  const double drawn = now();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "  first frame of %zu lanes after %.3f s: %.3f s reading (%.3f s of CPU), %.3f s composing; at most %ld MB\n",
      view->lanes().size(), drawn - begun, read - begun, read_cpu, drawn - read, usage.ru_maxrss / 1024);
}

void measure(const char* self, std::int64_t spans) {
  const std::string path = std::filesystem::temp_directory_path() / ("rankscope-bench-" + std::to_string(getpid()));
  RunSize size;
  size.spans = spans;
  double recording = 0;
  std::int64_t made = 0;
  {
    TraceWriter writer(path);
    made = invent_run(size, [&](const Message& m) {
      const double begun = cpu_seconds();
      writer.accept(m);
      recording += cpu_seconds() - begun;
    });
    writer.close();
  }
  const auto bytes = static_cast<double>(std::filesystem::file_size(path));
  std::printf("%lld spans: recorded at %.0f ns of CPU and %.1f bytes each\n", static_cast<long long>(made),
              recording * 1e9 / static_cast<double>(made), bytes / static_cast<double>(made));
  std::fflush(stdout);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const pid_t child = fork();
    if (child == 0) {
      execl(self, self, "open", path.c_str(), nullptr);
      _exit(1);
    }
    waitpid(child, nullptr, 0);
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace rankscope::bench

int main(int count, char** arguments) {
  if (count == 3 && arguments[1] == std::string("open")) {
    rankscope::bench::open(arguments[2]);
    return 0;
  }
  if (count == 2) {
    rankscope::bench::measure(arguments[0], std::atoll(arguments[1]));
    return 0;
  }
  rankscope::bench::measure(arguments[0], 1'000'000);
  rankscope::bench::measure(arguments[0], 10'000'000);
}
