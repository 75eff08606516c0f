// Files of hosts: valid ones, and the error messages of invalid lines.
#include "engine/worker/hosts.hpp"

#include <fstream>

#include "engine/plan/program/compile.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/worker/launch.hpp"
#include "engine/worker/run_size.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;

namespace {

struct HostFile {
  explicit HostFile(const std::string& text) : path(folder / "hosts") { std::ofstream(path) << text; }
  testing::TemporaryDirectory folder;
  std::string path;
};

std::string refusal(const std::string& text) {
  const HostFile file(text);
  try {
    read_hosts(file.path);
  } catch (const ScenarioError& error) {
    const std::string all = error.what(), front = "--hosts " + file.path;
    REQUIRE(all.starts_with(front));
    return all.substr(front.size());
  }
  return "taken";
}

}  // namespace

TEST_CASE("a line names a host and its number of ranks, by default one") {
  const HostFile file("# rack 7\nnode1 slots=4\n\n  node-2.lab:3   # the other\n10.0.0.3\n");
  const auto hosts = read_hosts(file.path);
  REQUIRE(hosts.size() == 3);
  CHECK(host_list(hosts) == "node1:4,node-2.lab:3,10.0.0.3:1");
}

TEST_CASE("the forms of Open MPI's, MPICH's and Slurm's files") {
  const auto listed = [](const std::string& text) {
    const HostFile file(text);
    return host_list(read_hosts(file.path));
  };
  CHECK(listed("n1 slots=4 max_slots=8\nn2 slots = 2 max-slots = 2\n") == "n1:4,n2:2");
  CHECK(listed("n1:4\nn2:4\n") == "n1:4,n2:4");
  CHECK(listed("n1\nn1\nn2\nn1\n") == "n1:3,n2:1");  // a line for each rank
  CHECK(listed("n1 slots=2\r\nn2 slots=1\r\n") == "n1:2,n2:1");
}

TEST_CASE("an invalid line is refused with its number, the word and the remedy") {
  const std::string forms =
      "': a host's line is NAME slots=N (Open MPI), NAME:N (MPICH), or NAME once for each rank (Slurm)";
  const std::string number = "': a host has 1 to 65536 slots";
  const std::pair<std::string, std::string> lines[] = {
      {"node1 slots=0", "slots=0" + number},
      {"node1 slots=-2", "slots=-2" + number},
      {"node1 slots=many", "slots=many" + number},
      {"node1 slots=", "slots=" + number},
      {"node1 4", "4" + forms},
      {"node1:0", "node1:0" + number},
      {"node1:", "node1:" + number},
      {"node1:2 slots=2", "slots=2" + forms},
      {"node1 slots=2 more", "more" + forms},
      {"node1 slots=4 max_slots=2", "max_slots=2': that is less than its slots, 4"},
      {"--host", "--host" + forms},
      {"node1;reboot", "node1;reboot" + forms},
      {"a,b", "a,b" + forms},
      {":4", ":4" + forms},
      {"me@node1",
       "me@node1': ssh takes the user from ~/.ssh/config (Host NAME, then User …); give the host's name alone"},
      {"fe80::1", "fe80::1': mpirun takes no IPv6 address; give it a name in /etc/hosts or ~/.ssh/config"}};
  for (const auto& [line, message] : lines) CHECK(refusal("good\n" + line + "\n") == ":2: '" + message);
}

TEST_CASE("a file without hosts is refused") {
  CHECK(refusal("# none\n") == ": no host is listed; it needs one line NAME slots=N for each host");
  CHECK_THROWS_AS(read_hosts("/no/such/file"), ScenarioError);
}

TEST_CASE("a host gets the ranks that exceed the slots of the hosts before it") {
  const std::vector<Host> hosts = {{"a", 2}, {"b", 3}, {"c", 4}};
  const auto on = [&](const std::string& name, int ranks) {
    return ranks_on(hosts, ranks, [&](const std::string& host) { return host == name; });
  };
  CHECK(on("a", 8) == RankRange{0, 2});
  CHECK(on("b", 8) == RankRange{2, 5});
  CHECK(on("c", 8) == RankRange{5, 8});
  CHECK(on("b", 1).count() == 0);
  CHECK(on("elsewhere", 8).count() == 0);
}

TEST_CASE("in a run over several hosts, memory is counted for the ranks on this host") {
  Scenario scenario;
  scenario.plan.pipeline = 4;
  const StepProgram step = compile(scenario);
  const RunSize all = size_of_run(step, "cpu", {0, 4}), none = size_of_run(step, "cpu", {0, 0});
  double sum = 0;
  for (int rank = 0; rank < 4; ++rank) sum += size_of_run(step, "cpu", {rank, rank + 1}).bytes - none.bytes;
  CHECK(all.bytes - none.bytes == Approx(sum));
  CHECK(size_of_run(step, "cpu", {0, 1}).bytes < 0.6 * all.bytes);
  // A large plan is counted by some of its ranks, whatever cluster its predictions are for.
  Scenario large = scenario;
  large.plan.data = 500;
  large.train.global_batch = 500 * scenario.train.global_batch;
  const double per_replica = size_of_run(compile(large), "cpu", {0, 2000}).bytes / 500;
  CHECK(per_replica == Approx(all.bytes).epsilon(0.02));
  large.cluster = read_scenario(test::source_folder() + "/scenarios/models/gpt3-175b.toml").cluster;
  CHECK(size_of_run(compile(large), "cpu", {0, 2000}).bytes == Approx(500 * per_replica).epsilon(0.05));
  // Launchers report how many ranks are here.
  RunRequest request;
  request.communicator = "mpi";
  CHECK(ranks_here(scenario, request) == RankRange{0, 4});
  request.launched = LaunchedJob{Launcher::mpirun, 0, 4, true, -1, 1};
  CHECK(ranks_here(scenario, request) == RankRange{0, 1});
  request.launched->here = 0;
  CHECK_FALSE(ranks_here(scenario, request));
}

TEST_CASE("hosts with fewer slots than the plan has ranks are refused with both numbers") {
  const std::vector<Host> hosts = {{"a", 2}, {"b", 1}};
  CHECK_NOTHROW(check_slots(hosts, 3, "f"));
  try {
    check_slots(hosts, 4, "f");
    FAIL("taken");
  } catch (const ScenarioError& error) {
    CHECK(std::string(error.what()) ==
          "--hosts f: 2 hosts with 3 slots in all, and the plan has 4 ranks; add hosts or slots");
  }
}
