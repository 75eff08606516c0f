// Ranks in jobs started by mpirun, as a user on a cluster starts them.
#include <signal.h>

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/whole/cluster/job_script.hpp"

using namespace rankscope;
using namespace rankscope::test;
using namespace std::chrono_literals;

TEST_CASE("processes started by mpirun are the run's ranks, and train the same as threads") {
  if (!can_use_mpi()) return;
  const Folder folder;
  const std::string file = (folder / "run.mcap").string();
  const Ended ended = script(folder, "mpirun -n 4 " + lab_run({"--json", "--steps", "4", "--record", file}));
  INFO(ended.err);
  CHECK(ended.status == 0);
  const json report = only_object(ended);
  CHECK(report["ranks"] == 4);
  CHECK(losses(report) == losses_of_threads(folder, 4));
  const json info = parse_json(trace_tool(folder, {"info", file, "--json"}).out);
  CHECK(info["run"]["communicator"] == "mpi");
  CHECK(info["damage"]["any"] == false);
  CHECK(folder.sessions().empty());
  CHECK(folder.processes_after(a_minute).empty());
}

TEST_CASE("a job that does not fit the run is refused by one line, whatever the number of its processes") {
  if (!can_use_mpi()) return;
  const Folder folder;
  const auto refused = [&](const std::string& line, const std::string& why) {
    const Ended ended = script(folder, line);
    INFO(line << "\n" << ended.err);
    CHECK(ended.status == 2);
    CHECK(ended.out.empty());
    const std::size_t first = ended.err.find(why);
    REQUIRE(first != std::string::npos);
    CHECK(ended.err.find(why, first + 1) == std::string::npos);
    CHECK(ended.seconds < some_seconds.count());
  };
  refused("mpirun -n 3 " + lab_run({}), "mpirun started 3 processes, and the plan has 4 ranks: mpirun -n 4");
  refused("mpirun -n 4 " + lab_run({"--comm", "loopback"}), "leave out mpirun, or use --comm mpi");
  refused("mpirun -n 4 " + lab_run({"--restarts", "1", "--checkpoint-every", "2"}), "--restarts: mpirun started");
  refused("mpirun -n 4 " + lab_run({"--set", "no.such=1"}), "no.such");
  refused("mpirun -n 4 " + lab_run({"--no-such-option"}), "--no-such-option");
  // Detected by rank 0 alone, while the others wait for it.
  refused("mpirun -n 4 " + lab_run({"--record", "/no/such/folder/run.mcap"}), "/no/such/folder/run.mcap");
}

TEST_CASE("where mpirun started the ranks, too, one that is killed is named and the recording is whole") {
  if (!can_use_mpi()) return;
  const Folder folder;
  const std::string file = (folder / "run.mcap").string();
  const std::string line =
      "set -o pipefail\nmpirun -n 4 " + lab_run({"--steps", "100000", "--record", file}) + " 2>&1 >/dev/null | cat >&2";
  Process run(folder, {"/bin/bash", folder.file("script", line)}, job_environment());
  // Rank 0 is the worker that the supervisor started; mpirun started the others.
  const int victim = GENERATE(0, 2);
  INFO("killed rank " << victim);
  std::error_code none;
  REQUIRE(wait_until(a_minute, [&] { return std::filesystem::file_size(file, none) > 40'000 && !none; }));
  bool is_killed = false;
  for (const pid_t process : folder.processes())
    if (environment_of(process, "OMPI_COMM_WORLD_RANK") == std::to_string(victim) &&
        (victim != 0 || arguments_of(process).ends_with("rankscope-engine worker")))
      is_killed = kill(process, SIGKILL) == 0;
  REQUIRE(is_killed);
  const Ended ended = run.wait(a_minute);
  INFO(ended.err);
  CHECK(ended.in_time);
  CHECK(ended.status != 0);
  CHECK(own_lines(ended.err).starts_with("rank " + std::to_string(victim) + " died after step "));
  CHECK(folder.processes_after(a_minute).empty());
  CHECK(parse_json(trace_tool(folder, {"info", file, "--json"}).out)["damage"]["any"] == false);
  CHECK(folder.sessions().empty());
}
