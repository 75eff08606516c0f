// Runs that are asked to stop: they save the step that they are at, and continue from it later.
#include <signal.h>

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

#include "tests/catch.hpp"
#include "tests/whole/cluster/job_script.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

namespace fs = std::filesystem;

/// Four ranks whose steps take milliseconds, and that would run for hours.
std::string long_scenario() {
  return "[model]\nlayers = 4\nwidth = 32\nheads = 2\ncontext = 16\nvocabulary = 64\n"
         "[plan]\ndata = 2\npipeline = 2\nmicro_batches = 4\nzero = 1\n"
         "[train]\nglobal_batch = 8\nsteps = 1000000\ncheckpoint_every = 500000\n";
}

Arguments long_run(const Folder& folder, const Arguments& more) {
  Arguments all{"run", folder.file("s.toml", long_scenario()), "--json"};
  all.insert(all.end(), more.begin(), more.end());
  return engine_command(all);
}

Ended to_its_end(const Folder& folder, const Arguments& more) {
  return Process(folder, long_run(folder, more)).wait(a_minute);
}

void wait_for_bytes(const fs::path& recording, std::uintmax_t bytes) {
  REQUIRE(wait_until(a_minute, [&] {
    std::error_code none;
    const auto size = fs::file_size(recording, none);
    return !none && size > bytes;
  }));
}

/// Whether the recording that is being made has ops of some rank.
bool has_ops(const Folder& folder, const std::string& recording) {
  const Ended info = trace_tool(folder, {"info", recording, "--json"});
  if (info.status != 0) return false;
  const auto topics = parse_json(info.out)["topics"];
  return std::any_of(topics.begin(), topics.end(), [](const auto& topic) {
    return topic["name"] == "/rankscope/spans" && topic["messages"].template get<int>() > 0;
  });
}

void wait_for_steps(const fs::path& recording) { wait_for_bytes(recording, 200'000); }

/// "stopped by request after step 65, saved in …/step-00000066": 66, if that is all true. `folder_of`: the
/// checkpoints'.
int saved_steps(const std::string& errors, const fs::path& folder_of) {
  INFO(errors);
  const std::string stopped = "rankscope-engine: stopped by request after step ", saved = ", saved in ";
  const std::size_t at = errors.find(stopped), where = errors.find(saved, at);
  REQUIRE(at != std::string::npos);
  REQUIRE(where != std::string::npos);
  const int steps = std::stoi(errors.substr(at + stopped.size())) + 1;
  const fs::path directory = errors.substr(where + saved.size(), errors.find('\n', where) - where - saved.size());
  CHECK(fs::equivalent(directory.parent_path(), folder_of));
  CHECK(directory.filename() == fmt::format("step-{:08}", steps));
  CHECK(fs::exists(directory / "manifest.json"));
  return steps;
}

/// The same training goes on from there: the losses of the next three steps are those of a run that was not stopped.
void check_continues(const Folder& folder, const std::string& checkpoints, int steps) {
  const std::string end = std::to_string(steps + 3);
  const auto resumed = rankscope::test::losses(
      only_object(to_its_end(folder, {"--resume", checkpoints, "--steps", end, "--checkpoint", "r"})));
  const auto straight =
      rankscope::test::losses(only_object(to_its_end(folder, {"--steps", end, "--checkpoint", "straight"})));
  REQUIRE(resumed.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(resumed[i] == Approx(straight[straight.size() - 3 + i]).epsilon(1e-5));
}

}  // namespace

TEST_CASE("a run that is asked to stop saves its last step, ends with a status of its own, and can continue") {
  const int number = GENERATE(SIGTERM, SIGUSR1, SIGINT, SIGHUP);
  const std::string comm = GENERATE(as<std::string>{}, "loopback", "mpi");
  if (comm == "mpi" && !can_use_mpi()) return;
  INFO("signal " << number << ", " << comm);
  const Folder folder;
  Process stopped(folder, long_run(folder, {"--checkpoint", "ck", "--record", "t.mcap", "--comm", comm}));
  wait_for_steps(folder / "t.mcap");
  stopped.signal(number);
  const Ended ended = stopped.wait(a_minute);
  INFO(ended.err);
  CHECK(ended.status == status::stopped);
  CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 2);
  CHECK_THAT(ended.err,
             ContainsText("stopping with a checkpoint after the current step, within 30 s; a second signal"));
  const int steps = saved_steps(ended.err, folder / "ck");
  CHECK(only_object(ended)["steps"].back()["step"] == steps - 1);
  CHECK(parse_json(trace_tool(folder, {"info", "t.mcap", "--json"}).out)["damage"]["any"] == false);
  CHECK(folder.sessions().empty());
  CHECK(folder.processes_after(a_minute).empty());
  check_continues(folder, "ck", steps);
}

TEST_CASE("a signal to all processes of a terminal or a job does not end the ranks before they have saved the step") {
  const int number = GENERATE(SIGTERM, SIGINT);
  const std::string comm = GENERATE(as<std::string>{}, "loopback", "mpi");
  if (comm == "mpi" && !can_use_mpi()) return;
  INFO("signal " << number << ", " << comm);
  const Folder folder;
  Process stopped(folder, long_run(folder, {"--checkpoint", "ck", "--record", "t.mcap", "--comm", comm}));
  wait_for_steps(folder / "t.mcap");
  for (const pid_t process : folder.processes()) kill(process, number);
  const Ended ended = stopped.wait(a_minute);
  CHECK(ended.status == status::stopped);
  saved_steps(ended.err, folder / "ck");
}

TEST_CASE("a second signal and the end of --grace end a run whose step takes longer") {
  const std::string comm = GENERATE(as<std::string>{}, "loopback", "mpi");
  const bool waits = GENERATE(false, true);
  if (comm == "mpi" && !can_use_mpi()) return;
  INFO(comm);
  const Folder folder;
  // Ops of the last rank sleep for minutes; the step has begun when others have been recorded.
  Process stopped(folder, long_run(folder, {"--checkpoint", "ck", "--comm", comm, "--device", "sleep", "--set",
                                            "fault.slow_rank=3", "--set", "fault.slow_factor=1e6", "--grace",
                                            waits ? "0" : "1000", "--record", "t.mcap"}));
  REQUIRE(wait_until(a_minute, [&] { return has_ops(folder, "t.mcap"); }));
  stopped.signal(SIGTERM);
  REQUIRE(!stopped.line_of_errors("rankscope-engine: stopping with a checkpoint ", a_minute).empty());
  if (!waits) stopped.signal(SIGTERM);
  const Ended ended = stopped.wait(a_minute);
  INFO(ended.err);
  CHECK(ended.in_time);
  CHECK(ended.status == status::stopped);
  CHECK_THAT(ended.err, ContainsText("stopped by request before it finished a step; not saved, because ") &&
                            ContainsText(waits ? "--grace 0 was over" : "a second signal ended the run"));
  CHECK(folder.processes_after(a_minute).empty());
  CHECK(folder.sessions().empty());
}

TEST_CASE("a request that comes with the last step stops nothing: the run is done") {
  const Folder folder;
  Process run(folder, long_run(folder, {"--checkpoint", "ck", "--steps", "20", "--await-viewers", "1"}));
  REQUIRE(wait_until(a_minute, [&] { return fs::exists(folder / "ck" / "step-00000020"); }));
  run.signal(SIGTERM);
  const Ended ended = run.wait(a_minute);
  INFO(ended.err);
  CHECK(ended.status == status::done);
  CHECK_THAT(ended.err, !ContainsText("stopped by request"));
}

TEST_CASE("inside mpirun SIGUSR1 stops the run with a checkpoint, whichever process receives it") {
  if (!can_use_mpi()) return;
  const bool to_mpirun = GENERATE(true, false);
  INFO((to_mpirun ? "to mpirun" : "to rank 2"));
  const Folder folder;
  const std::string line = quoted(long_run(folder, {"--checkpoint", "ck", "--record", "t.mcap"}));
  Process job(folder, {"/bin/bash", folder.file("script", "exec mpirun -n 4 " + line)}, job_environment());
  wait_for_steps(folder / "t.mcap");
  pid_t target = job.pid();
  if (!to_mpirun)
    for (const pid_t process : folder.processes())
      if (environment_of(process, "OMPI_COMM_WORLD_RANK") == "2") target = process;
  REQUIRE(kill(target, SIGUSR1) == 0);
  const Ended ended = job.wait(a_minute);
  INFO(ended.err);
  if (to_mpirun) {
    CHECK(ended.status == status::stopped);
    saved_steps(ended.err, folder / "ck");
  }
  CHECK(!fs::is_empty(folder / "ck"));
  CHECK(folder.processes_after(a_minute).empty());
  CHECK(folder.sessions().empty());
}

TEST_CASE("a rank that dies is named also where signals are kept from the ranks") {
  if (!can_use_mpi()) return;
  const Folder folder;
  Process run(folder, long_run(folder, {"--checkpoint", "ck", "--record", "t.mcap", "--comm", "mpi"}));
  wait_for_steps(folder / "t.mcap");
  bool is_killed = false;
  for (const pid_t process : folder.processes())
    if (environment_of(process, "OMPI_COMM_WORLD_RANK") == "2" &&
        arguments_of(process).ends_with("rankscope-engine worker"))
      is_killed = kill(process, SIGKILL) == 0;
  REQUIRE(is_killed);
  const Ended ended = run.wait(a_minute);
  CHECK(ended.status == status::rank_lost);
  CHECK_THAT(ended.err, ContainsText("rankscope-engine: rank 2 died after step "));
  CHECK(folder.processes_after(a_minute).empty());
}
