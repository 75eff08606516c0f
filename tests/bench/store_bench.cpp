// Costs of the run store: loading, memory and drawing, with one and with ten million spans (or the number in the
// argument).
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

#include "telemetry/store/run_store.hpp"
#include "tests/bench/store_run.hpp"

namespace rankscope::bench {
namespace {

// CPU time of this thread, because a busy machine does not distort it. The work is on one thread, so on an idle machine
// this is wall time.
struct Clock {
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
};
double since(double start) { return Clock::now() - start; }

double resident_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6) / 1024;
  return 0;
}

void measure(std::int64_t expected, bool disordered) {
  RunSize size;
  size.spans = expected;
  std::vector<Message> pieces;
  std::int64_t spans = 0;
  const double before = resident_megabytes();
  double loading = 0, slowest_view = 0;
  RunStore store;
  const auto give = [&] {
    if (disordered) std::shuffle(pieces.begin(), pieces.end(), std::mt19937(7));
    const auto start = Clock::now();
    for (const Message& m : pieces) store.accept(m);
    loading += since(start);
    const auto look = Clock::now();
    store.view();
    slowest_view = std::max(slowest_view, since(look));
    pieces.clear();
  };
  spans = invent_run(size, [&](const Message& m) {
    pieces.push_back(m);
    if (pieces.size() == (disordered ? 4096u : 64u)) give();
  });
  give();
  const auto view = store.view();
  const double held = static_cast<double>(store.detail_bytes());
  std::printf(
      "%lld spans%s: load %.3f s (%.0f ns a span), view at most %.2f ms, %.1f bytes a span, resident +%.0f MB\n",
      static_cast<long long>(spans), disordered ? ", disordered" : "", loading,
      loading * 1e9 / static_cast<double>(spans), slowest_view * 1e3, held / static_cast<double>(spans),
      resident_megabytes() - before);
  const TimeRange all = view->extent(Obtained::measured);
  std::vector<PixelShare> pixels(1920);
  for (const double part : {1.0, 0.1, 0.01, 0.001}) {
    const auto length = static_cast<std::int64_t>(static_cast<double>(all.length()) * part);
    const TimeRange range{all.begin_ns + (all.length() - length) / 2, all.begin_ns + (all.length() + length) / 2};
    double best = 1e9;
    for (int repeat = 0; repeat < 5; ++repeat) {
      const auto start = Clock::now();
      for (int rank = 0; rank < 64; ++rank) view->shares({rank, Lane::compute, Obtained::measured}, range, pixels);
      best = std::min(best, since(start));
    }
    std::printf("  shares of 1920 pixels over 64 lanes, %5.1f%% of the run: %.2f ms\n", part * 100, best * 1e3);
  }
  const auto start = Clock::now();
  std::size_t found = 0;
  for (int rank = 0; rank < 64; ++rank)
    found += view->spans({rank, Lane::compute, Obtained::measured}, all, 219'000, 200).size();
  std::printf("  %zu longest spans of 64 lanes: %.2f ms\n", found, since(start) * 1e3);
  const auto step = view->steps(Obtained::measured).size() / 2;
  const auto join = Clock::now();
  found = view->step_spans(Obtained::measured, static_cast<std::uint32_t>(step)).size();
  std::printf("  the %zu spans of a step: %.2f ms\n", found, since(join) * 1e3);
}

}  // namespace
}  // namespace rankscope::bench

int main(int count, char** arguments) {
  if (count > 1) {
    rankscope::bench::measure(std::atoll(arguments[1]), count > 2);
    return 0;
  }
  rankscope::bench::measure(1'000'000, false);
  rankscope::bench::measure(1'000'000, true);
  rankscope::bench::measure(10'000'000, false);
}
