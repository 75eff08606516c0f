// Output that the system does not take: lost output is an error of every command, and a closed pipe is none.
#include <algorithm>

#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope::test;

namespace {

/// By the shell, with the lines' redirection.
Ended typed(const Folder& folder, const std::string& line) {
  return Process(folder, {"/bin/sh", "-c", line}).wait(a_minute);
}

}  // namespace

TEST_CASE("standard output on a full disk is an error of every command, in one line") {
  const Folder folder;
  const std::string engine_program = quoted({program("rankscope-engine")});
  const std::string trace_program = quoted({program("rankscope-trace")}), file = quoted({lab("pipeline-1f1b")});
  const std::string recording = (folder / "run.mcap").string();
  REQUIRE(engine(folder, {"simulate", lab("pipeline-1f1b"), "--record", recording}).status == 0);
  const std::string small = " --set layers=4 --set width=32 --set context=16 --steps 2 ";
  const std::vector<std::pair<std::string, std::string>> lines{
      {"rankscope-engine", engine_program + " --help"},
      {"rankscope-engine", engine_program + " --version"},
      {"rankscope-engine", engine_program + " plan " + file},
      {"rankscope-engine", engine_program + " plan " + file + " --json"},
      {"rankscope-engine", engine_program + " simulate " + file},
      {"rankscope-engine", engine_program + " run " + file + small + "--json"},
      {"rankscope-engine", engine_program + " export-torch " + file},
      {"rankscope-engine", engine_program + " lessons list"},
      {"rankscope-engine", engine_program + " lessons export pipeline-1f1b --as html"},
      {"rankscope-trace", trace_program + " info " + recording},
      {"rankscope-trace", trace_program + " stats " + recording},
      {"rankscope-trace", trace_program + " stats --json " + recording},
      {"rankscope-trace", trace_program + " export " + recording + " --format csv"}};
  for (const auto& [name, line] : lines) {
    const Ended ended = typed(folder, line + " > /dev/full");
    INFO(line << ": " << ended.err);
    CHECK(ended.status == 1);
    CHECK(ended.err.ends_with(name + ": standard output: No space left on device\n"));
  }
}

TEST_CASE("a file on a full disk is refused with the system's reason") {
  const Folder folder;
  const std::string file = lab("pipeline-1f1b"), recording = (folder / "run.mcap").string();
  REQUIRE(engine(folder, {"simulate", file, "--record", recording}).status == 0);
  for (const Ended& ended : {trace_tool(folder, {"export", recording, "-o", "/dev/full"}),
                             trace_tool(folder, {"export", recording, "--format", "csv", "-o", "/dev/full"}),
                             trace_tool(folder, {"recover", recording, "-o", "/dev/full"}),
                             engine(folder, {"export-torch", file, "-o", "/dev/full"}),
                             engine(folder, {"lessons", "export", "pipeline-1f1b", "-o", "/dev/full"})}) {
    INFO(ended.err);
    CHECK(ended.status > 0);
    CHECK(ended.err.find("/dev/full") != std::string::npos);
    CHECK(ended.err.find("No space left on device") != std::string::npos);
  }
  const Ended nowhere = engine(folder, {"export-torch", file, "-o", (folder / "none/x.py").string()});
  INFO(nowhere.err);
  CHECK(nowhere.status == 2);
  CHECK(nowhere.err.find("none/x.py: cannot be written: No such file or directory; ") != std::string::npos);
}

TEST_CASE("a reader that closes the pipe ends a command without a message") {
  const Folder folder;
  const std::string engine_program = quoted({program("rankscope-engine")}), file = quoted({lab("pipeline-1f1b")});
  for (const char* before : {"", "trap '' PIPE; "}) {  // as a parent may have it, so that writing fails instead
    const Ended ended = typed(folder, before + engine_program + " plan " + file + " --program 0 | head -n 1");
    INFO(ended.err);
    CHECK(ended.status == 0);
    CHECK(std::count(ended.out.begin(), ended.out.end(), '\n') == 1);
    CHECK(ended.err.empty());
  }
}
