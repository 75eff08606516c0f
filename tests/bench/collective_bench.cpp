// Bus bandwidth of every collective and algorithm among loopback ranks, compared with this machine's memcpy.
//
//   collective_bench [RANKS = 4]
//
// Definitions of nccl-tests: S is the bytes of the tensor, or of all members' parts together; algorithm bandwidth is S
// divided by the time from the first member's call to the last one's return; bus bandwidth is that times a factor: the
// rate that the busiest link must at least have, for any number of ranks. Ranks are threads, so all links together are
// the machine's memory, and its caches if S is small: a collective that keeps few links busy may have a higher rate
// than each of as many threads that all copy at once. The figures are unreliable while other programs run.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "engine/execute/comm/loopback.hpp"
#include "engine/plan/collective/cost.hpp"
#include "tests/engine/execute/comm/collective_calls.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// At least 5 rounds; more while they are short, for about a tenth of a second in total.
int rounds_for(double seconds) { return std::clamp(static_cast<int>(0.1 / std::max(seconds, 1e-7)), 5, 200); }

/// Median seconds of `rounds` rounds in which all `threads` threads do `work(thread)` at once.
template <class Work>
double timed(int threads, int rounds, Work work) {
  std::vector<double> times;
  std::barrier begin(threads), end(threads);
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      for (int round = 0; round < rounds; ++round) {
        begin.arrive_and_wait();
        const auto at = Clock::now();
        work(thread);
        end.arrive_and_wait();
        if (thread == 0) times.push_back(seconds_since(at));
      }
    });
  running.clear();
  return median(times);
}

/// Bytes copied per second and thread, buffers of `bytes` each.
double memcpy_bandwidth(int threads, std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  std::vector<std::vector<std::byte>> from(threads, std::vector<std::byte>(size, std::byte{1}));
  std::vector<std::vector<std::byte>> to = from;
  const auto copy = [&](int t) { std::memcpy(to[t].data(), from[t].data(), size); };
  const double s = timed(threads, rounds_for(timed(threads, 3, copy)), copy);
  return static_cast<double>(bytes) / s;
}

double seconds_of(OpKind kind, const char* algorithm, int n, std::int64_t bytes) {
  const auto hub = make_loopback(n);
  std::vector<std::unique_ptr<World>> worlds;
  std::vector<std::unique_ptr<Communicator>> groups;
  std::vector<Buffers> buffers;
  std::vector<int> everyone;
  for (int r = 0; r < n; ++r) everyone.push_back(r);
  for (int r = 0; r < n; ++r) {
    worlds.push_back(world(hub, r));
    groups.push_back(worlds.back()->group(everyone, Lane::data, algorithm));
    buffers.emplace_back(kind, DType::f32, n, bytes / 4);
  }
  const auto work = [&](int r) { call(*groups[r], buffers[r], 0); };
  return timed(n, rounds_for(timed(n, 3, work)), work);
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 4;
  if (n < 2 || n > 64) {
    std::fprintf(stderr, "collective_bench: RANKS is a number from 2 to 64, not '%s'\n", argv[1]);
    return 2;
  }
  std::printf("%d loopback ranks on %u cores, fp32; bus bandwidth in GB/s\n", n, std::thread::hardware_concurrency());
  for (const std::int64_t bytes : {std::int64_t{64} << 10, std::int64_t{2} << 20, std::int64_t{32} << 20}) {
    const double alone = memcpy_bandwidth(1, bytes), together = memcpy_bandwidth(n, bytes);
    std::printf("\n%lld KiB   memcpy: %.2f GB/s by one thread, %.2f by each of %d at once\n",
                static_cast<long long>(bytes >> 10), alone * 1e-9, together * 1e-9, n);
    std::printf("  %-16s", "");
    for (const char* algorithm : algorithms) std::printf("  %20s", algorithm);
    std::printf("\n");
    for (const OpKind kind : collectives) {
      std::printf("  %-16s", name_of(kind).data());
      for (const char* algorithm : algorithms) {
        const double s = seconds_of(kind, algorithm, n, bytes);
        const double bus = static_cast<double>(bytes) / s * bus_factor(kind, n);
        std::printf("  %6.2f %8.1f us %2.0f%%", bus * 1e-9, s * 1e6, 100 * bus / together);
      }
      std::printf("\n");
    }
  }
  std::printf("\npercentages are of the bandwidth at which as many threads copy at once\n");
}
