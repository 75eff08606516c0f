// Ranks on several hosts, and in jobs started by mpirun or srun: as a user on a cluster starts them.
#include <signal.h>

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/judged.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope;
using namespace rankscope::test;
using namespace std::chrono_literals;

namespace {

using Arguments = std::vector<std::string>;

constexpr int cannot_be_made = 77;

/// "'a' 'b'": for a shell.
std::string quoted(const Arguments& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "'" : " '") + word + "'";
  return line;
}

std::string lab_run(const Arguments& more) {
  Arguments all = with_small_model({"run", lab("pipeline-1f1b")});
  all.insert(all.end(), more.begin(), more.end());
  return quoted(engine_command(all));
}

/// A shell script's run. Root may start MPI jobs, and this machine may have fewer cores than ranks.
Ended script(const Folder& folder, const std::string& text, const Arguments& before = {}) {
  Arguments command = before;
  command.insert(command.end(), {"/bin/bash", folder.file("script", "set -eu\n" + text)});
  return Process(folder, command,
                 {.environment = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                  "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_hwloc_base_binding_policy=none"},
                  .input = {}})
      .wait(a_minute);
}

/// The same inside what hosts.sh or slurm.sh makes; none, with a message, if it cannot be made.
std::optional<Ended> script_on(const std::string& cluster, const Folder& folder, const std::string& text) {
  if (!can_use_mpi()) return std::nullopt;
  const std::string maker = std::string(RANKSCOPE_SOURCE_DIR) + "/tests/whole/cluster/" + cluster;
  Ended ended = script(folder, text, {"/bin/bash", maker, folder.path().string()});
  if (ended.status != cannot_be_made) return ended;
  not_judged("ranks on a cluster that cannot be made here: " + ended.err);
  return std::nullopt;
}

std::vector<double> losses(const json& report) {
  std::vector<double> all;
  for (const json& step : report["steps"]) all.push_back(step["loss"]);
  return all;
}

std::vector<double> losses_of_threads(const Folder& folder, int steps) {
  return losses(only_object(script(folder, lab_run({"--json", "--steps", std::to_string(steps)}))));
}

/// The part of the output that our program wrote.
std::string own_lines(const std::string& errors) {
  std::string own;
  for (std::size_t at = 0; at < errors.size();) {
    const std::size_t end = std::min(errors.find('\n', at), errors.size());
    const std::string line = errors.substr(at, end - at);
    if (line.starts_with("rankscope-engine: ")) own += line.substr(line.find(' ') + 1) + "\n";
    at = end + 1;
  }
  return own;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace

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
  Process run(folder, {"/bin/bash", folder.file("script", line)},
              {.environment = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                               "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_hwloc_base_binding_policy=none"},
               .input = {}});
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

TEST_CASE(
    "ranks on three hosts whose clocks are hours apart are one run: --hosts starts them and leaves nothing there") {
  const Folder folder;
  const std::string hosts = folder.file("hosts", "a slots=1\nb slots=2\nc slots=1\n");
  const std::string file = (folder / "run.mcap").string();
  const auto ended = script_on("hosts.sh", folder,
                               lab_run({"--json", "--steps", "4", "--hosts", hosts, "--record", file}) +
                                   "\nfor host in b c; do ssh -F cluster/ssh_config $host ls " +
                                   (folder / "tmp").string() + " >&2; done");
  if (!ended) return;
  INFO(ended->err);
  CHECK(ended->status == 0);
  CHECK(ended->err.find("rankscope-") == std::string::npos);
  CHECK(losses(only_object(*ended)) == losses_of_threads(folder, 4));
  const json info = parse_json(trace_tool(folder, {"info", file, "--json"}).out);
  CHECK(info["first_ns"] >= 0);
  CHECK(info["last_ns"].get<double>() < 60e9 * slowness);
  CHECK(info["damage"]["any"] == false);
}

TEST_CASE("a rank that is killed on another host is named within seconds") {
  const Folder folder;
  const std::string hosts = folder.file("hosts", "a slots=1\nb slots=2\nc slots=1\n");
  const std::string file = (folder / "run.mcap").string();
  // The hosts share one set of process ids; rank 2 is on b, so its network differs from this script's.
  const auto ended =
      script_on("hosts.sh", folder,
                lab_run({"--steps", "100000", "--hosts", hosts, "--record", file}) + " >report &\nrun=$!\n" +
                    replaced(R"sh(until [[ -s FILE && $(stat -c %s FILE) -gt 40000 ]]; do sleep 0.1; done
for process in /proc/[0-9]*; do
  if tr '\0' '\n' <$process/environ 2>/dev/null | grep -qx OMPI_COMM_WORLD_RANK=2 &&
    [[ $(readlink $process/ns/net) != $(readlink /proc/self/ns/net) ]]; then victim=${process#/proc/}; fi
done
kill -KILL $victim
begin=$EPOCHREALTIME
wait $run || echo "status $?"
echo "seconds $(( ${EPOCHREALTIME%.*} - ${begin%.*} ))")sh",
                             "FILE", file));
  if (!ended) return;
  INFO(ended->err << ended->out);
  CHECK(own_lines(ended->err).starts_with("rank 2 died after step "));
  CHECK(ended->out.find("status 1\n") != std::string::npos);
  const std::size_t seconds = ended->out.find("seconds ");
  REQUIRE(seconds != std::string::npos);
  CHECK(std::stoi(ended->out.substr(seconds + 8)) < some_seconds.count());
}

TEST_CASE("an mpirun with a file of hosts starts the ranks on them, and they find the supervisor") {
  const Folder folder;
  const auto ended = script_on(
      "hosts.sh", folder,
      "printf 'b slots=2\\nc slots=2\\n' > on\nmpirun --hostfile on -n 4 " + lab_run({"--json", "--steps", "4"}));
  if (!ended) return;
  INFO(ended->err);
  CHECK(ended->status == 0);
  CHECK(losses(only_object(*ended)) == losses_of_threads(folder, 4));
}

TEST_CASE("a host that does not answer is reported, not waited for") {
  const Folder folder;
  const std::string hosts = folder.file("hosts", "a slots=2\nnowhere slots=2\n");
  const auto ended = script_on("hosts.sh", folder, lab_run({"--steps", "4", "--hosts", hosts}));
  if (!ended) return;
  INFO(ended->err);
  CHECK(ended->in_time);
  CHECK(ended->status == 1);
  CHECK(ended->err.find("nowhere") != std::string::npos);
}

TEST_CASE("srun starts a run's ranks where it serves PMIx, and one line refuses what it cannot connect") {
  const Folder folder;
  const std::string run = lab_run({"--json", "--steps", "4"});
  const auto ended = script_on("slurm.sh", folder,
                               "srun --mpi=pmix -n 4 " + run + "\nfor how in none pmi2; do srun --mpi=$how -n 4 " +
                                   run + " && exit 1; done\nexit 0");
  if (!ended) return;
  INFO(ended->err);
  CHECK(ended->status == 0);
  CHECK(losses(only_object(*ended)) == losses_of_threads(folder, 4));
  const std::string refusal = "srun started 4 processes that Open MPI cannot connect: use srun --mpi=pmix";
  const std::size_t first = ended->err.find(refusal), second = ended->err.find(refusal, first + 1);
  CHECK(first != std::string::npos);
  CHECK(second != std::string::npos);
  CHECK(ended->err.find(refusal, second + 1) == std::string::npos);
}

TEST_CASE("the script for Slurm trains a scenario in the nodes that it is given, and records it") {
  const Folder folder;
  const std::string engine = RANKSCOPE_ENGINE;
  const Arguments more = with_small_model({lab("pipeline-1f1b"), "--json", "--steps", "4"});
  const auto ended = script_on("slurm.sh", folder,
                               "export PATH=" + engine.substr(0, engine.rfind('/')) +
                                   ":$PATH\nsbatch --ntasks=4 --output=report --error=errors " +
                                   std::string(RANKSCOPE_SOURCE_DIR) + "/resources/cluster/slurm.sh " + quoted(more) +
                                   " >&2\nuntil [[ -z $(squeue --noheader) ]]; do sleep 0.1; done\ncat errors >&2\nmv "
                                   "pipeline-1f1b.*.mcap batch.mcap\ncat report");
  if (!ended) return;
  INFO(ended->err);
  CHECK(ended->status == 0);
  CHECK(losses(only_object(*ended)) == losses_of_threads(folder, 4));
  const json info = parse_json(trace_tool(folder, {"info", (folder / "batch.mcap").string(), "--json"}).out);
  CHECK(info["run"]["communicator"] == "mpi");
  CHECK(info["damage"]["any"] == false);
}
