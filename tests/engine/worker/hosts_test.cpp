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

TEST_CASE("an invalid line is refused with its number and the remedy") {
  const std::string cure = "' is not a host; write NAME slots=N, such as node1 slots=4";
  for (const std::string line : {"node1 slots=0", "node1 slots=-2", "node1 slots=many", "node1 4", "node1:0", "node1:",
                                 "node1:2 slots=2", "node1 slots=2 more", "--host", "node1;reboot", "a,b", ":4"})
    CHECK(refusal("good\n" + line + "\n") == ":2: '" + line + cure);
}

TEST_CASE("a host that is listed twice, and a file without hosts, are refused") {
  CHECK(refusal("a\nb\na slots=2\n") == ":3: a is listed twice; give it one line with all its slots");
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
