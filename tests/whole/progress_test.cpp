// The progress of a command: what a user at a terminal sees while it works.
#include <csignal>
#include <fstream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/judged.hpp"
#include "tests/places.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope::test;

namespace {

constexpr const char* script = "/usr/bin/script";

bool has_terminal() {
  const bool there = std::filesystem::exists(script);
  if (!there) not_judged("what a terminal shows: there is no script (bsdutils) here");
  return there;
}

/// The terminal's text as soon as it contains that text, or after the limit. The command is then ended.
std::string screen_with(const std::string& text, const Folder& folder, const std::string& line) {
  const std::string file = (folder / "screen").string();
  Process terminal(folder, {script, "-qefc", line, file});
  std::string screen;
  wait_until(a_minute, [&] {
    std::ostringstream all;
    all << std::ifstream(file).rdbuf();
    screen = all.str();
    return screen.find(text) != std::string::npos;
  });
  terminal.signal(SIGTERM);
  terminal.wait(a_minute);
  return screen;
}

}  // namespace

TEST_CASE("at a terminal every command that takes long shows how far it is, in one line that it rewrites") {
  if (!has_terminal()) return;
  const Folder folder;
  struct Case {
    std::vector<std::string> arguments;
    std::string shown;
  };
  const Case one = GENERATE(values<Case>({
      {{"run", lab("pipeline-1f1b"), "--steps", "3000"}, "\rrun: step "},
      {{"verify", lab("pipeline-1f1b"), "--set", "layers=16"}, "\rverify: "},
      {{"sweep", lab("pipeline-1f1b"), "--over", "plan.micro_batches=8,16"}, "\rsweep: run 1 of 2"},
      {{"search", "search-frontier", "--strategy", "bayes", "--budget", "400"}, "\rsearch: "},
      {{"validate", "--own"}, "\rvalidate: "},
  }));
  INFO(one.arguments.front());
  const std::string screen = screen_with(one.shown, folder, quoted(engine_command(one.arguments)));
  CHECK(screen.find(one.shown) != std::string::npos);
  CHECK(screen.find("\033[K") != std::string::npos);  // the line before is erased
  CHECK(folder.processes_after(a_minute).empty());
}

TEST_CASE("the set-up scripts show how far they are") {
  if (!has_terminal()) return;
  const Folder folder;
  const std::string line =
      "bash -c '. \"" + source_folder() +
      "/resources/setup/common.sh\"; count() { echo 1 4; }; with_progress building count sleep 60'";
  const std::string screen = screen_with("building, 1 of 4, about ", folder, line);
  CHECK(screen.find("\rbuilding, 1 of 4, about ") != std::string::npos);
  CHECK(folder.processes_after(a_minute).empty());
}
