// Runs that go on from checkpoints, as a person would have them do it.
#include <algorithm>
#include <filesystem>

#include "tests/catch.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

using Arguments = std::vector<std::string>;

std::string scenario() {
  return "[model]\nlayers = 4\nwidth = 32\nheads = 2\ncontext = 16\nvocabulary = 64\n"
         "[plan]\ndata = 2\npipeline = 2\nmicro_batches = 4\nzero = 1\n"
         "[train]\nglobal_batch = 8\nsteps = 9\ncheckpoint_every = 2\n";
}

Ended run(const Folder& folder, const Arguments& more) {
  Arguments command{RANKSCOPE_ENGINE, "run", (folder / "s.toml").string(), "--json"};
  command.insert(command.end(), more.begin(), more.end());
  return Process(folder, command).wait(a_minute);
}

/// Losses by step.
std::vector<std::pair<int, double>> losses(const Ended& ended) {
  INFO(ended.err);
  std::vector<std::pair<int, double>> rows;
  const json report = parse_json(ended.out);
  for (const json& step : report.at("steps")) rows.emplace_back(step.at("step"), step.at("loss"));
  return rows;
}

}  // namespace

TEST_CASE("a run that loses a rank goes on by itself from the last checkpoint, to the same losses") {
  const auto* communicator = GENERATE("loopback", "mpi");
  if (std::string(communicator) == "mpi" && !can_use_mpi()) return;
  const Folder folder;
  folder.file("s.toml", scenario());
  const auto straight = losses(run(folder, {"--checkpoint", "a", "--comm", communicator}));
  REQUIRE(straight.size() == 9);
  const Ended ended = run(folder, {"--checkpoint", "b", "--restarts", "1", "--comm", communicator, "--record", "t.mcap",
                                   "--set", "fault.kill_rank=3", "--set", "fault.kill_step=5"});
  INFO(ended.err);
  CHECK(ended.status == 0);
  CHECK(ended.err.find("rank 3") != std::string::npos);
  CHECK(ended.err.find("going on from") != std::string::npos);
  // Which one was complete when the rank died hangs on the moment: after 2 or after 4 steps.
  const auto resumed = losses(ended);
  REQUIRE(!resumed.empty());
  CHECK((resumed.front().first == 2 || resumed.front().first == 4));
  CHECK(resumed.back().first == 8);
  for (const auto& row : resumed)
    CHECK(row.second == Approx(straight[static_cast<std::size_t>(row.first)].second).epsilon(1e-6));
  CHECK(std::filesystem::exists(folder / "t.mcap"));
  CHECK(std::filesystem::exists(folder / "t.2.mcap"));
  CHECK(folder.processes_after(some_seconds).empty());
  CHECK(folder.sessions().empty());
}

TEST_CASE("a run goes on under another plan, and further than it was meant to") {
  const Folder folder;
  folder.file("s.toml", scenario());
  const auto straight = losses(run(folder, {"--checkpoint", "a", "--steps", "12"}));
  REQUIRE(run(folder, {"--checkpoint", "b", "--steps", "6"}).status == 0);
  const auto resumed =
      losses(run(folder, {"--resume", "b", "--checkpoint-every", "0", "--steps", "12", "--set", "plan.data=1", "--set",
                          "plan.zero=0", "--set", "plan.pipeline=4", "--set", "plan.micro_batches=8"}));
  REQUIRE(resumed.size() == 6);
  for (const auto& [step, loss] : resumed)
    CHECK(loss == Approx(straight[static_cast<std::size_t>(step)].second).epsilon(1e-5));
}

TEST_CASE("checkpoints that do not fit are refused before anything starts") {
  const Folder folder;
  folder.file("s.toml", scenario());
  REQUIRE(run(folder, {"--checkpoint", "a", "--steps", "2"}).status == 0);
  struct Refused {
    Arguments options;
    const char* words;
  };
  const std::vector<Refused> rows{
      {{"--checkpoint", "a"}, "an earlier run has left checkpoints there"},
      {{"--resume", "nowhere"}, "--resume nowhere: there is no complete checkpoint"},
      {{"--resume", "a", "--steps", "2"}, "it has done 2 steps and train.steps is 2; give --steps with more"},
      {{"--resume", "a", "--set", "model.width=64"}, "model.width = 32, and the scenario has 64"},
      {{"--restarts", "1", "--checkpoint-every", "0"}, "--restarts: nothing asks for checkpoints"},
      {{"--checkpoint", "c", "--checkpoint-every", "0"}, "--checkpoint: nothing asks for checkpoints"}};
  for (const Refused& row : rows) {
    const Ended ended = run(folder, row.options);
    INFO(ended.err);
    CHECK(ended.status == 2);
    CHECK(ended.err.find(row.words) != std::string::npos);
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
    CHECK(ended.out.empty());
  }
}
