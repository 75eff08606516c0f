// The ledger against the world: what the operating system counts is what the ledger says.
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope::test;
using nlohmann::json;

namespace {

struct Plan {
  std::string lab;
  std::vector<std::string> overrides;
};

/// What each of two ranks says about its memory (see resident_rank.cpp).
std::vector<json> memory_of_ranks(const Folder& folder, const Plan& plan) {
  std::vector<std::string> command{RANKSCOPE_MPIEXEC, "-n", "2", "--oversubscribe", "--bind-to", "none"};
  if (geteuid() == 0) command.emplace_back("--allow-run-as-root");
  command.insert(command.end(), {RANKSCOPE_RESIDENT_RANK, lab(plan.lab)});
  command.insert(command.end(), plan.overrides.begin(), plan.overrides.end());
  const Ended ended = Process(folder, command).wait(a_minute);
  INFO(ended.out);
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  std::vector<json> ranks;
  std::istringstream lines(ended.out);
  for (std::string line; std::getline(lines, line);) ranks.push_back(json::parse(line));
  REQUIRE(ranks.size() == 2);
  return ranks;
}

}  // namespace

TEST_CASE("a rank process's resident memory grows by what its ledger says, within 5%, and then no more") {
  const Folder folder;
  // Some hundreds of MiB a rank, so that a few of code and of MPI's own hardly count.
  const Plan plan = GENERATE(
      Plan{"pipeline-1f1b",
           {"width=512", "heads=8", "layers=8", "context=128", "global_batch=4", "pipeline=2", "micro_batches=4"}},
      Plan{"data-parallel", {"width=512", "heads=8", "layers=4", "context=128", "global_batch=4", "data=2"}});
  INFO(plan.lab);
  for (const json& rank : memory_of_ranks(folder, plan)) {
    INFO(rank.dump());
    const double ledger = rank["ledger"], two = rank["two_steps"], six = rank["six_steps"];
    CHECK(ledger > 200e6);
    CHECK(two > 0.95 * ledger);
    CHECK(two < 1.05 * ledger);
    CHECK(six > 0.95 * ledger);
    CHECK(six < 1.05 * ledger);
    CHECK(six - two < 0.01 * ledger);
  }
}
