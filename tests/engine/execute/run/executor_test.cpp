#include "engine/execute/run/executor.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "engine/base/host/threads.hpp"
#include "tests/catch.hpp"
#include "tests/engine/plan/program/scenarios.hpp"
#include "tests/wait_until.hpp"

using namespace rankscope;
using namespace std::chrono_literals;

namespace {

RankProgram program_with_messages() { return compile(small_scenario("1f1b", 2, 2, 4)).program_for(0); }

}  // namespace

TEST_CASE("every op begins after all its dependencies have ended, in its step and the one before") {
  const RankProgram program = program_with_messages();
  constexpr std::uint32_t steps = 3;
  std::atomic<int> clock = 0;
  std::map<std::pair<std::uint32_t, OpIndex>, std::pair<int, int>> when;  // begin and end, by a logical clock
  std::mutex mutex;
  Executor executor(program, [&](OpIndex op, std::uint32_t step) {
    const int begin = ++clock;
    if (op % 7 == step) std::this_thread::sleep_for(200us);  // so that other lanes can overtake where that is allowed
    const std::lock_guard lock(mutex);
    when[{step, op}] = {begin, ++clock};
  });
  executor.run(0, steps, [](const std::string&) {});
  REQUIRE(when.size() == steps * program.ops.size());
  const auto lanes = program.lanes();
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (OpIndex i = 0; i < program.ops.size(); ++i) {
      for (const OpIndex before : program.ops[i].after) CHECK(when[{step, i}].first > when[{step, before}].second);
      if (step > 0)
        for (const OpIndex before : program.ops[i].after_previous)
          CHECK(when[{step, i}].first > when[{step - 1, before}].second);
    }
    for (const auto& lane : lanes)
      for (std::size_t i = 1; i < lane.size(); ++i)
        CHECK(when[{step, lane[i]}].first > when[{step, lane[i - 1]}].second);
  }
}

TEST_CASE("a step is not a barrier: a lane may be in the next step while another is still in this one") {
  // Two lanes without edges: the compute lane can be steps ahead of a slow copy lane.
  RankProgram program;
  program.ops.push_back({*parse_token("F:c0:m0"), GroupKind::self, -1, {}, {}, {}});
  program.ops.push_back({*parse_token("LOAD:c0:m0"), GroupKind::self, -1, {}, {}, {}});
  std::atomic<int> loads = 0, loads_when_compute_ended = -1;
  Executor executor(program, [&](OpIndex op, std::uint32_t step) {
    if (op == 1) {
      test::wait_until(10s, [&] { return loads_when_compute_ended >= 0; });  // with a barrier, this would be too late
      ++loads;
    } else if (step == 2) {
      loads_when_compute_ended = loads.load();
    }
  });
  executor.run(0, 3, [](const std::string&) {});
  CHECK(loads == 3);
  CHECK(loads_when_compute_ended == 0);
}

TEST_CASE("when an op fails, no lane begins another one, and the failure is rethrown") {
  const RankProgram program = program_with_messages();
  std::atomic<bool> failed = false;
  std::atomic<int> begun_after = 0, reported = 0;
  const auto lanes = program.lanes();
  const OpIndex bad = lanes[static_cast<std::size_t>(Lane::compute)][5];
  Executor executor(program, [&](OpIndex op, std::uint32_t) {
    if (failed) ++begun_after;
    if (op == bad) {
      failed = true;
      throw std::runtime_error("the disk is on fire");
    }
  });
  CHECK_THROWS_WITH(executor.run(0, 10, [&](const std::string& why) { reported += why == "the disk is on fire"; }),
                    "the disk is on fire");
  CHECK(reported == 1);
  CHECK(begun_after <= lane_count);  // ops that had already passed their check
}

TEST_CASE("contributions run in order of arrival, no further ahead of the slowest than allowed") {
  // Three workers; the last one is always late.
  RankProgram program;
  program.arrivals_ahead = 1;
  for (int worker = 0; worker < 3; ++worker)
    for (const OpKind kind : {OpKind::receive, OpKind::optimizer, OpKind::send})
      program.ops.push_back({OpId::of({kind, Purpose::server, -1, worker, -1,
                                       kind == OpKind::optimizer ? Segment::update : Segment::whole, 0}),
                             GroupKind::self,
                             kind == OpKind::optimizer ? -1 : worker,
                             {},
                             {},
                             {}});
  constexpr std::uint32_t steps = 6;
  std::vector<std::uint32_t> done(3, 0);
  std::vector<OpIndex> order;
  Executor executor(
      program,
      [&](OpIndex op, std::uint32_t step) {
        order.push_back(op);
        const std::size_t worker = op / 3;
        CHECK(step == done[worker]);
        if (op % 3 == 2) ++done[worker];
        CHECK(step <= *std::min_element(done.begin(), done.end()) + 1);
      },
      [&](std::span<const OpIndex> receives) {
        CHECK_FALSE(receives.empty());
        return receives.front();
      });
  executor.run(0, steps, [](const std::string&) {});
  REQUIRE(order.size() == 3 * 3 * steps);
  CHECK(done == std::vector<std::uint32_t>(3, steps));
  for (std::size_t i = 0; i < order.size(); i += 3)  // the ops of a contribution are consecutive
    CHECK((order[i] % 3 == 0 && order[i + 1] == order[i] + 1 && order[i + 2] == order[i] + 2));
  // The first worker has finished two steps before the next one has begun.
  CHECK(order[0] == 0);
  CHECK(order[3] == 0);
  CHECK(order[6] == 3);
}

#if RANKSCOPE_SLOWNESS == 1  // sanitizers reserve terabytes of address space
TEST_CASE("if a lane's thread cannot be created, the run and the other lanes' waits end") {
  const RankProgram program = program_with_messages();
  const pid_t child = fork();  // the limit applies to the whole process and cannot be removed
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(20);
    std::ifstream status("/proc/self/statm");
    rlim_t pages = 0;
    status >> pages;
    // Space for one thread's stack and not for two. Earlier threads had smaller stacks, so none can be used again.
    constexpr std::size_t stack = std::size_t{64} << 20;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack);
    const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + stack * 3 / 2;
    const rlimit space{bytes, bytes};
    if (pthread_setattr_default_np(&attributes) != 0 || setrlimit(RLIMIT_AS, &space) != 0) _exit(3);
    std::atomic<bool> peers_end = false;
    Executor executor(program, [&](OpIndex, std::uint32_t) {
      while (!peers_end) std::this_thread::sleep_for(1ms);  // like a receive whose peer never began
      throw std::runtime_error("the world has failed");
    });
    int failures = 0;
    std::string why;
    try {
      executor.run(0, 3, [&](const std::string& text) {
        ++failures;
        why = text;
        peers_end = true;
      });
    } catch (const ThreadError&) {
      _exit(failures == 1 && why.find("no thread can be made for lane ") == 0 ? 0 : 1);
    }
    _exit(2);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif
