// PyTorch's traces through the program: real ones (tests/telemetry/import/samples), and what cannot be read.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope::test;

namespace {

namespace fs = std::filesystem;

/// The samples of a job, in a folder of their own.
std::string traces_of(const Folder& folder, const std::string& job) {
  const fs::path to = folder / job;
  fs::create_directories(to);
  for (const auto& entry : fs::directory_iterator(source_folder() + "/tests/telemetry/import/samples"))
    if (entry.path().filename().string().starts_with(job + "_")) fs::copy(entry.path(), to / entry.path().filename());
  return to.string();
}

void check_refused(const Ended& ended, const std::string& why) {
  INFO(ended.err);
  CHECK(ended.status == 2);
  CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  CHECK_THAT(ended.err, ContainsText(why));
}

}  // namespace

TEST_CASE("traces of four ranks become a recording that says for which rank the others wait") {
  const Folder folder;
  const std::string run = (folder / "run.mcap").string();
  const Ended imported = trace_tool(folder, {"import", traces_of(folder, "ddp4"), "-o", run, "--json"});
  const json said = only_object(imported);
  CHECK(said["ranks"] == 4);
  CHECK(said["traces"] == 4);
  CHECK(said["clocks"].size() == 4);
  CHECK(said["clocks"][3]["same_host"] == true);
  const json stats = only_object(trace_tool(folder, {"stats", run, "--json"}));
  CHECK(stats["plan"].is_null());
  CHECK(stats["ranks"] == 4);
  REQUIRE(stats["steps"].size() == 3);
  double sum = 0;
  for (const json& share : stats["time"]) sum += share.get<double>();
  CHECK(sum == Approx(1));
  // Rank 3 sleeps for 20 ms in each step. By a separate reading of the begins of all gloo:all_reduce, with each moment
  // once, the others wait 23.403 ms for it in step 3 and 22.814 ms in step 4; one of them is shown.
  REQUIRE(stats["awaited_rank"].is_object());
  CHECK(stats["awaited_rank"]["rank"] == 3);
  const double seconds = stats["awaited_rank"]["seconds"];
  CHECK((seconds == Approx(0.02340307) || seconds == Approx(0.0228143)));
  CHECK_THAT(trace_tool(folder, {"stats", run}).out, ContainsText("for rank 3 in collectives"));
}

TEST_CASE("an imported run keeps its names in exports, and is cut like any recording") {
  const Folder folder;
  const std::string run = (folder / "run.mcap").string(), part = (folder / "part.mcap").string();
  REQUIRE(trace_tool(folder, {"import", traces_of(folder, "pipeline2"), "-o", run}).status == 0);
  const std::string csv = trace_tool(folder, {"export", run, "--format", "csv"}).out;
  CHECK_THAT(csv, ContainsText("main thread") && ContainsText("aten::linear") && ContainsText(",send,"));
  check_refused(trace_tool(folder, {"export", run, "--format", "html"}), "it is another program's run");
  REQUIRE(trace_tool(folder, {"cut", run, "--steps", "3:3", "-o", part}).status == 0);
  CHECK(only_object(trace_tool(folder, {"stats", part, "--json"}))["steps"].size() == 1);
}

TEST_CASE("what is no trace, or no run, is refused in one line") {
  const Folder folder;
  const std::string run = (folder / "run.mcap").string(), traces = traces_of(folder, "ddp2");
  const auto import = [&](std::vector<std::string> inputs) {
    inputs.insert(inputs.begin(), "import");
    inputs.insert(inputs.end(), {"-o", run});
    return trace_tool(folder, std::move(inputs));
  };
  check_refused(import({(folder / "nothing").string()}), "there is no such file or folder");
  fs::create_directories(folder / "empty");
  check_refused(import({(folder / "empty").string()}), "there is no trace in this folder");
  check_refused(import({folder.file("text.json", "no JSON")}), "text.json: ");
  check_refused(import({folder.file("other.json", "{\"a\": 1}")}), "traceEvents");
  check_refused(import({traces, traces}), "are both of rank 0");
  const std::string whole = content_of(fs::path(traces) / "ddp2_rank0.json.gz");
  check_refused(import({folder.file("cut.json.gz", whole.substr(0, whole.size() / 2))}), "cut.json.gz: ");
  CHECK_FALSE(fs::exists(run));
  // A trace is never overwritten, and a folder may have other files, too.
  const Ended over = trace_tool(folder, {"import", traces, "-o", (fs::path(traces) / "ddp2_rank1.json.gz").string()});
  check_refused(over, "it is one of the traces");
  std::ofstream(fs::path(traces) / "ds_config.json") << "{\"a\": 1}";
  const Ended imported = import({traces});
  CHECK(imported.status == 0);
  CHECK_THAT(imported.err, ContainsText("left out: ds_config.json"));
}
