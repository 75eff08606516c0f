// The ledger compared with the operating system: both count the same memory.
#include <unistd.h>

#include <sstream>

#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope::test;

namespace {

struct ResidentPlan {
  const char* name;
  int ranks;
  std::vector<std::string> overrides;
};

/// The memory reported by each rank (see resident_rank.cpp).
std::vector<json> memory_of_ranks(const Folder& folder, const ResidentPlan& plan) {
  std::vector<std::string> command{RANKSCOPE_MPIEXEC, "-n",        std::to_string(plan.ranks),
                                   "--oversubscribe", "--bind-to", "none"};
  if (geteuid() == 0) command.emplace_back("--allow-run-as-root");
  command.insert(command.end(), {program("resident_rank"), lab("data-parallel")});
  // Some hundreds of MiB per rank, so that the 13 MB of code and of MPI are well below 5%; and little to compute.
  command.insert(command.end(), {"width=512", "heads=8", "layers=12", "context=32", "global_batch=4", "data=1"});
  command.insert(command.end(), plan.overrides.begin(), plan.overrides.end());
  // Memory that a kernel's library has allocated and freed (oneDNN without AVX-512 packs operands, up to 1.3 MB a call)
  // must return to the system immediately: memory kept by malloc is not held by the rank.
  const StartOptions returned{
      .environment = {"MALLOC_ARENA_MAX=1", "MALLOC_MMAP_THRESHOLD_=131072", "MALLOC_TRIM_THRESHOLD_=131072"},
      .input = {}};
  const Ended ended = Process(folder, command, returned).wait(a_minute);
  INFO(ended.out);
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  std::vector<json> ranks;
  std::istringstream lines(ended.out);
  for (std::string line; std::getline(lines, line);) ranks.push_back(parse_json(line));
  REQUIRE(static_cast<int>(ranks.size()) == plan.ranks);
  return ranks;
}

}  // namespace

TEST_CASE("a rank process's resident memory grows by its ledger's peak, within 5%, and then no more") {
  const Folder folder;
  const auto plan = GENERATE(
      ResidentPlan{"pipeline", 2, {"pipeline=2", "micro_batches=4"}},
      ResidentPlan{"data parallel", 2, {"data=2", "layers=9"}},
      ResidentPlan{"ZeRO-3", 2, {"data=2", "zero=3", "bucket_mib=25", "layers=15"}},
      ResidentPlan{"tensor", 2, {"tensor=2"}},
      ResidentPlan{"zero bubble", 2, {"pipeline=2", "micro_batches=4", "schedule=zb-h1"}},
      ResidentPlan{"offload", 2, {"data=2", "zero=2", "layers=12", "offload=optimizer", "precision=bf16"}},
      ResidentPlan{"parameter server", 3, {"data=2", "layers=9", "data_parallel=parameter-server", "collective=auto"}});
  INFO(plan.name);
  for (const json& rank : memory_of_ranks(folder, plan)) {
    INFO(to_text(rank));
    const double ledger = rank["ledger"], reserved = rank["reserved"];
    const double two = rank["two_steps"], four = rank["four_steps"];
    CHECK(ledger > 150e6);
    CHECK(reserved >= ledger);
    CHECK(two > 0.95 * ledger);
    CHECK(two < 1.05 * ledger);
    CHECK(four < 1.05 * ledger);
    CHECK(four - two < 0.01 * ledger);
  }
}
