// A window that is killed: the next run removes the remaining files.
#include <signal.h>

#include <filesystem>

#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope::test;
using namespace std::chrono_literals;

TEST_CASE("the folder of a window's class is removed by the next run when the window was killed") {
  const Folder folder;
  const int number = GENERATE(SIGKILL, SIGTERM, SIGHUP);
  INFO("signal " << number);
  Process window(folder, {program("rankscope"), "--teach", (folder / "class.join").string()},
                 {.environment = {"QT_QPA_PLATFORM=offscreen", "HOME=" + folder.path().string()}, .input = {}});
  REQUIRE(wait_until(a_minute, [&] { return std::filesystem::exists(folder / "class.join"); }));
  REQUIRE(folder.sessions().size() == 1);
  window.signal(number);
  CHECK(window.wait(a_minute).in_time);
  for (const std::string& session : folder.sessions())
    std::filesystem::last_write_time(session, std::filesystem::file_time_type::clock::now() - 1h);
  CHECK(engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--steps", "1"})).status == 0);
  CHECK(folder.sessions().empty());
}

TEST_CASE("a window that is killed while its run trains leaves no process, and the next run removes its folder") {
  const Folder folder;
  const int number = GENERATE(SIGKILL, SIGTERM, SIGHUP);
  INFO("signal " << number);
  Process window(folder, {program("rankscope"), lab("pipeline-1f1b"), "--run"},
                 {.environment = {"QT_QPA_PLATFORM=offscreen", "HOME=" + folder.path().string()}, .input = {}});
  // The window's own session, and ranks that train.
  REQUIRE(wait_until(a_minute, [&] { return !folder.sessions().empty() && folder.processes().size() > 1; }));
  window.signal(number);
  CHECK(window.wait(a_minute).in_time);
  CHECK(folder.processes_after(a_minute).empty());
  for (const std::string& session : folder.sessions())
    std::filesystem::last_write_time(session, std::filesystem::file_time_type::clock::now() - 1h);
  CHECK(engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--steps", "1"})).status == 0);
  CHECK(folder.sessions().empty());
}
