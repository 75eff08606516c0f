// Ranks on several hosts and under Slurm, as a user on a cluster starts them.
#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/whole/cluster/job_script.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace

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
  CHECK(ended->out.find("status 11\n") != std::string::npos);
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
  const std::string engine = program("rankscope-engine");
  const Arguments more = with_small_model({lab("pipeline-1f1b"), "--json", "--steps", "4"});
  const auto ended = script_on("slurm.sh", folder,
                               "export PATH='" + engine.substr(0, engine.rfind('/')) +
                                   "':\"$PATH\"\nsbatch --ntasks=4 --output=report --error=errors " +
                                   quoted({source_folder() + "/resources/cluster/slurm.sh"}) + " " + quoted(more) +
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

TEST_CASE(
    "a Slurm job that is cancelled or receives SIGUSR1 saves its last step, and continues when it is queued again") {
  const Folder folder;
  const std::string engine = program("rankscope-engine");
  const std::string how = GENERATE(as<std::string>{}, "scancel", "scancel --batch --signal=USR1");
  INFO(how);
  const Arguments arguments =
      with_small_model({lab("pipeline-1f1b"), "--checkpoint", "ck", "--resume", "ck", "--checkpoint-every", "500000"});
  const auto ended = script_on(
      "slurm.sh", folder,
      "export PATH='" + engine.substr(0, engine.rfind('/')) +
          "':\"$PATH\"\nsubmit() { sbatch --parsable --ntasks=4 --output=out --error=err " +
          quoted({source_folder() + "/resources/cluster/slurm.sh"}) + " " + quoted(arguments) +
          " \"$@\"; }\njob=$(submit --steps 1000000)\n"
          "until [[ $(stat -c %s \"pipeline-1f1b.$job.mcap\" 2>/dev/null) -gt 200000 ]]; do sleep 0.1; done\n" +
          how +
          " $job\nuntil [[ -z $(squeue --noheader) ]]; do sleep 0.1; done\ncat err >&2\n"
          "last=$(basename ck/step-*); steps=$((10#${last#step-}))\n"
          "submit --steps $((steps + 3)) --json >&2\n"
          "until [[ -z $(squeue --noheader) ]]; do sleep 0.1; done\ncat err >&2; cat out");
  if (!ended) return;
  INFO(ended->err);
  REQUIRE(ended->status == 0);
  CHECK_THAT(ended->err, ContainsText("stopped by request after step ") && ContainsText(", saved in "));
  const json report = only_object(*ended);
  CHECK(report["steps"].size() == 3);
  CHECK(report["steps"][0]["step"].get<int>() > 0);
}
