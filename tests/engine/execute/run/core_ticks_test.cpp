#include "engine/execute/run/core_ticks.hpp"

#include <sys/wait.h>
#include <csignal>

#include <chrono>
#include <ctime>

#include "tests/catch.hpp"
#include "tests/judged.hpp"

using namespace rankscope;

TEST_CASE("CPU time of other processes counts as taken by others, that of an ended child does not") {
  if (CoreTicks::now().all == 0) return test::not_judged("the processors' ticks: this system does not count them");
  constexpr double seconds = 0.4;
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const auto before = CoreTicks::now();
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    while (static_cast<double>(std::clock()) / CLOCKS_PER_SEC < seconds) {
    }
    (void)!write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char done = 0;
  REQUIRE(read(ready[0], &done, 1) == 1);
  const double beside = before.taken_since();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  kill(child, SIGKILL);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  const double after = before.taken_since();
  close(ready[0]);
  close(ready[1]);
  const double share = seconds / elapsed.count() / static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  INFO("beside it " << beside << ", after it " << after << ", its share " << share);
  CHECK(beside > 0.7 * share);  // ticks are hundredths of a second, so this is not exact
  CHECK(beside - after > 0.7 * share);
  CHECK(after >= 0);
}
