#include "telemetry/relay/session_watch.hpp"

#include <signal.h>

#include "tests/catch.hpp"
#include "tests/telemetry/stream/support.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

class Session {
 public:
  explicit Session(int ranks) { report(0, a_hello(ranks)); }
  void report(std::int32_t rank, Event event) {
    watch.accept({a_session(), rank, ++sequence_[rank], 0, std::move(event)});
  }
  void steps(std::int32_t rank, std::uint32_t last) {
    for (std::uint32_t step = 0; step <= last; ++step) report(rank, a_summary(rank, step));
  }
  SessionWatch watch;

 private:
  std::map<std::int32_t, std::uint64_t> sequence_;
};

constexpr ChildExit well{0, 0}, failed{1, 0};

}  // namespace

TEST_CASE("a run whose ranks all succeeded has succeeded") {
  Session s(2);
  for (std::int32_t rank : {0, 1}) {
    s.steps(rank, 9);
    s.report(rank, End{rank, true, 9, "", false});
  }
  const Verdict verdict = s.watch.verdict(well);
  CHECK(verdict.ok);
  CHECK(verdict.last_step == 9);
  CHECK(verdict.end().rank == -1);
}

TEST_CASE("ranks that ended early because they were asked to are not a failure, and have not finished") {
  Session s(2);
  for (std::int32_t rank : {0, 1}) {
    s.steps(rank, 4);
    s.report(rank, End{rank, true, 4, "stopped by request", false});
  }
  CHECK(s.watch.verdict(well).ok);
  CHECK(s.watch.verdict(well).stopped);
}

TEST_CASE("the first step whose loss is not finite is known, also if a later one is reported before it") {
  Session s(1);
  s.steps(0, 4);
  CHECK_FALSE(s.watch.loss_not_finite_since());
  for (const std::uint32_t step : {7, 6, 8}) {
    StepSummary summary = a_summary(0, step);
    summary.loss_not_finite = true;
    s.report(0, summary);
  }
  CHECK(s.watch.loss_not_finite_since() == 6);
}

TEST_CASE("the rank that became silent is named when the others report that it did not arrive") {
  Session s(3);
  s.steps(0, 7);
  s.steps(1, 6);
  s.steps(2, 7);
  s.report(2, End{2, false, 7, "rank 2, lane data: rank 1 did not come within 5 s", true});
  s.report(0, End{0, false, 7, "rank 0, lane data: rank 1 did not come within 5 s", true});
  const Verdict verdict = s.watch.verdict(failed);
  CHECK_FALSE(verdict.ok);
  CHECK(verdict.rank == 1);
  CHECK(verdict.last_step == 6);
  CHECK(verdict.message == "rank 1 died after step 6 (exit status 1)");
  CHECK(verdict.end().failed_rank == 1);
}

TEST_CASE("a rank that reports its own failure is named before those that miss it") {
  Session s(2);
  s.steps(0, 3);
  s.steps(1, 3);
  s.report(0, End{0, false, 3, "the peer rank 1 is gone", true});
  s.report(1, End{1, false, 3, "fault: killed at step 4, as the scenario says", false});
  const Verdict verdict = s.watch.verdict(failed);
  CHECK(verdict.rank == 1);
  CHECK(verdict.message == "rank 1 failed after step 3: fault: killed at step 4, as the scenario says");
}

TEST_CASE("the launcher's report takes precedence") {
  Session s(2);
  s.steps(0, 4);
  s.steps(1, 4);
  s.watch.read_launcher_line("some other line of process rank 0");
  s.watch.read_launcher_line("mpirun noticed that process rank 1 with PID 4711 on node n exited on signal 9 (Killed).");
  const Verdict verdict = s.watch.verdict({137, 0});
  CHECK(verdict.rank == 1);
  CHECK(verdict.last_step == 4);
}

TEST_CASE("a single process killed by a signal is named with the signal") {
  Session s(1);
  s.steps(0, 2);
  const Verdict verdict = s.watch.verdict({0, SIGKILL});
  CHECK(verdict.rank == 0);
  CHECK(verdict.message == "rank 0 died after step 2 (signal 9 (Killed))");
}

TEST_CASE("if all ranks ended together none is blamed, and the last common step is reported") {
  Session s(2);
  s.steps(0, 5);
  s.steps(1, 4);
  const Verdict verdict = s.watch.verdict({0, SIGKILL});
  CHECK_FALSE(verdict.ok);
  CHECK(verdict.rank == -1);
  CHECK(verdict.last_step == 4);
  CHECK(verdict.message == "the run ended after step 4 (signal 9 (Killed)); no rank can be named");
}

TEST_CASE("a rank that died before its first step is reported, and so is a run that never reported") {
  Session s(2);
  s.report(0, End{0, false, -1, "rank 1 did not come", true});
  CHECK(s.watch.verdict(failed).message == "rank 1 died before it finished a step (exit status 1)");
  SessionWatch nothing;
  CHECK_FALSE(nothing.verdict(well).ok);
}

TEST_CASE("an exit status of zero does not hide a rank that never ended") {
  Session s(2);
  s.steps(0, 5);
  s.report(0, End{0, true, 5, "", false});
  CHECK_FALSE(s.watch.verdict(well).ok);
}

TEST_CASE("silent ranks are those that have reported, have not ended, and have not reported recently") {
  Session s(3);
  s.steps(1, 0);
  s.report(2, End{2, true, 0, "", false});
  CHECK(s.watch.silent(std::chrono::hours(1)).empty());
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(s.watch.silent(std::chrono::milliseconds(1)) == std::vector<std::int32_t>{0, 1});
}

TEST_CASE("a heartbeat without an event ends a silence, and a mark of a finished step counts as a report") {
  Session s(2);
  s.steps(0, 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  s.watch.alive(1);
  CHECK(s.watch.silent(std::chrono::milliseconds(300)) == std::vector<std::int32_t>{0});
  const auto not_before = std::chrono::steady_clock::now() + std::chrono::hours(1);
  CHECK(s.watch.silent(std::chrono::milliseconds(300), not_before).empty());
  s.watch.finished(0, 7);
  s.watch.finished(0, 5);
  CHECK(s.watch.last_step(0) == 7);
}
