// What goes wrong in a run is said when it happens, once, and programs can read it: a loss that is not finite, a lost
// rank.
#include <algorithm>

#include "tests/catch.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

std::vector<std::string> diverging(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"run",   lab("pipeline-1f1b"),     "--json", "--record", "t.mcap",
                                     "--set", "train.learning_rate=1e9"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return with_small_model(arguments);
}

/// The step that the one line about the loss names.
int named_step(const std::string& errors) {
  INFO(errors);
  const std::string words = "rankscope-engine: the loss is not finite since step ";
  const std::size_t at = errors.find(words);
  REQUIRE(at != std::string::npos);
  CHECK(errors.find(words, at + 1) == std::string::npos);
  return std::stoi(errors.substr(at + words.size()));
}

/// The first step of a report without a loss.
int first_without_loss(const json& report) {
  for (const json& step : report["steps"])
    if (step["loss"].is_null()) return step["step"];
  return -1;
}

json stats(const Folder& folder) { return only_object(trace_tool(folder, {"stats", "t.mcap", "--json"})); }

}  // namespace

TEST_CASE("a loss that is not finite is said once, with its step, and the run goes on") {
  const std::string comm = GENERATE(as<std::string>{}, "loopback", "mpi");
  if (comm == "mpi" && !can_use_mpi()) return;
  const Folder folder;
  const Ended ended = engine(folder, diverging({"--steps", "12", "--comm", comm}));
  CHECK(ended.status == status::done);
  const int step = named_step(ended.err);
  CHECK_THAT(ended.err, ContainsText("; the run goes on (--stop-on nan would end it)"));
  const json report = only_object(ended);
  CHECK(report["steps"].size() == 12);
  CHECK(first_without_loss(report) == step);
  const std::string fault = "the loss is not finite since step " + std::to_string(step);
  CHECK(report["faults"] == json{fault});
  CHECK(stats(folder)["faults"] == json{fault});
  CHECK_THAT(trace_tool(folder, {"stats", "t.mcap"}).out,
             ContainsText("not finite since step " + std::to_string(step)));
}

TEST_CASE("--stop-on nan ends a run whose loss is not finite, with a status of its own") {
  const std::string comm = GENERATE(as<std::string>{}, "loopback", "mpi");
  const bool saves = GENERATE(false, true);
  if (comm == "mpi" && !can_use_mpi()) return;
  const Folder folder;
  std::vector<std::string> more{"--steps", "1000000", "--stop-on", "nan", "--comm", comm};
  if (saves) more.insert(more.end(), {"--checkpoint", "ck", "--checkpoint-every", "500000", "--restarts", "1"});
  const Ended ended = engine(folder, diverging(more));
  INFO(ended.err);
  CHECK(ended.status == status::loss_not_finite);
  const int step = named_step(ended.err);
  const std::string ending = "the loss is not finite since step " + std::to_string(step);
  CHECK_THAT(ended.err,
             ContainsText("rankscope-engine: ended by --stop-on nan after step ") && ContainsText(": " + ending));
  const json report = stats(folder);
  CHECK(report["lost"].is_null());
  CHECK(report["faults"].back() == json(ending));
  CHECK(folder.processes_after(a_minute).empty());
}

TEST_CASE("the loss of a short run that diverges in its last step counts for --stop-on nan, too") {
  const Folder folder;
  const Ended all = engine(folder, diverging({"--steps", "12"}));
  const int step = named_step(all.err);
  const Ended ended = engine(folder, diverging({"--steps", std::to_string(step + 1), "--stop-on", "nan"}));
  CHECK(ended.status == status::loss_not_finite);
  CHECK(named_step(ended.err) == step);
}

TEST_CASE("ops that sleep have no loss, and that is no fault") {
  const Folder folder;
  const Ended ended = engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--json", "--record", "t.mcap",
                                                       "--steps", "3", "--device", "sleep", "--stop-on", "nan"}));
  CHECK(ended.status == status::done);
  CHECK(ended.err.empty());
  CHECK(only_object(ended)["steps"][2]["loss"].is_null());
  CHECK(only_object(ended)["faults"].empty());
  CHECK(stats(folder)["faults"].empty());
}

TEST_CASE("programs read which rank a run lost, and after which step") {
  const std::string comm = GENERATE(as<std::string>{}, "loopback", "mpi");
  if (comm == "mpi" && !can_use_mpi()) return;
  const Folder folder;
  const Ended ended =
      engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--json", "--record", "t.mcap", "--comm", comm,
                                       "--set", "kill_rank=2", "--set", "kill_step=10"}));
  CHECK(ended.status == status::rank_lost);
  const json info = only_object(trace_tool(folder, {"info", "t.mcap", "--json"}));
  CHECK(info["ended"]["ok"] == false);
  for (const json& report : {only_object(ended), stats(folder), info}) {
    INFO(to_text(report["lost"]));
    CHECK(report["lost"]["rank"] == 2);
    CHECK(report["lost"]["last_step"] == 9);
    CHECK_THAT(report["lost"]["reason"].get<std::string>(), ContainsText("rank 2 ") && ContainsText("after step 9"));
    REQUIRE(report["faults"].size() == 1);
    CHECK(report["faults"][0] == report["lost"]["reason"]);
  }
  CHECK_THAT(trace_tool(folder, {"info", "t.mcap"}).out, ContainsText("ended        rank 2 "));
  CHECK_THAT(trace_tool(folder, {"stats", "t.mcap"}).out, ContainsText("lost rank              rank 2 "));
}

TEST_CASE("a run that is done, or that was asked to stop, has lost nothing") {
  const Folder folder;
  REQUIRE(
      engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--record", "t.mcap", "--steps", "3"})).status ==
      status::done);
  const json info = only_object(trace_tool(folder, {"info", "t.mcap", "--json"}));
  CHECK(info["ended"]["ok"] == true);
  CHECK(info["ended"]["last_step"] == 2);
  for (const json& report : {stats(folder), info}) {
    CHECK(report["lost"].is_null());
    CHECK(report["faults"].empty());
  }
}
