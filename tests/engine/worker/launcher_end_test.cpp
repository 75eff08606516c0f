// A launcher that hangs after its processes have ended.
#include "engine/worker/launcher_end.hpp"

#include <thread>

#include "engine/worker/child.hpp"
#include "tests/catch.hpp"
#include "tests/slowness.hpp"

using namespace rankscope;
using namespace rankscope::test;
using namespace std::chrono_literals;

namespace {

/// Whether the launcher is reported within this time.
bool is_reported(const std::string& script, std::chrono::milliseconds time) {
  const ChildProcess launcher({"/bin/sh", "-c", script}, {});
  LauncherEnd end(launcher.pid(), 10, 10ms);
  for (const auto until = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < until;) {
    if (end.is_overdue()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

}  // namespace

TEST_CASE("a launcher whose processes have all ended is reported if it does not end") {
  // After the exec, nobody waits for the process in the background.
  CHECK(is_reported("sleep 0.2 & exec sleep 600", 20s * slowness));
}

TEST_CASE("a launcher is not reported while one of its processes runs, or before it has started any") {
  CHECK_FALSE(is_reported("sleep 600 & sleep 0.1 & exec sleep 600", 1s));
  CHECK_FALSE(is_reported("exec sleep 600", 1s));
}
