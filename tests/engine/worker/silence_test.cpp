// Silent ranks: which one is named, and when it is certain enough to end a run.
#include "engine/worker/silence.hpp"

#include <unistd.h>

#include <thread>

#include "tests/catch.hpp"
#include "tests/slowness.hpp"
#include "tests/telemetry/stream/support.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;
using namespace rankscope::test;
using namespace std::chrono_literals;

namespace {

const SilenceLimits quick{1ms, 600ms * slowness, 200ms * slowness, 500ms * slowness, 60s};

/// Two ranks; rank 1 has been silent since its third step.
class Job {
 public:
  explicit Job(bool other_hosts) : report(watch, {getpid(), false, other_hosts, "", folder.path()}, quick) {
    watch.accept({a_session(), 0, 1, 0, a_hello(2)});
    for (std::uint32_t step = 0; step < 3; ++step)
      for (const std::int32_t rank : {0, 1}) finish(rank, step);
  }
  void finish(std::int32_t rank, std::uint32_t step) {
    watch.accept({a_session(), rank, ++sequence_, 0, a_summary(rank, step)});
  }
  /// Meanwhile, rank 0 sends heartbeats, and finishes steps if `steps` is true.
  void pass(std::chrono::milliseconds time, bool steps) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end && !report.over()) {
      watch.alive(0);
      if (steps) finish(0, ++step_);
      report.poll([&](const std::string& line) { lines.push_back(line); });
      std::this_thread::sleep_for(10ms);
    }
  }

  rankscope::testing::TemporaryDirectory folder;
  SessionWatch watch;
  SilenceReport report;
  std::vector<std::string> lines;

 private:
  std::uint64_t sequence_ = 1;
  std::uint32_t step_ = 2;
};

}  // namespace

TEST_CASE("a rank of another host is declared lost when it is silent and no rank finishes a step") {
  Job job(true);
  job.pass(1500ms * slowness, true);
  REQUIRE(job.lines.size() == 1);
  CHECK_THAT(job.lines[0], ContainsText("rank 1 is silent since "));
  CHECK_THAT(job.lines[0], ContainsText("after step 2"));
  CHECK_FALSE(job.report.over());  // its peers would wait for it
  job.pass(5s * slowness, false);
  const auto end = job.report.over();
  REQUIRE(end);
  CHECK(end->rank == 1);
  CHECK(end->processes.empty());
  CHECK_THAT(end->why, ContainsText("it sent nothing for "));
}

TEST_CASE("a silent rank of this host whose process is not stopped is named, and its peers' time limit decides") {
  Job job(false);
  job.pass(2500ms * slowness, false);
  CHECK(job.lines.size() == 1);
  CHECK(job.report.silent().contains(1));
  CHECK_FALSE(job.report.over());
}
