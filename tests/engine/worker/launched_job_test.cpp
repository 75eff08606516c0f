// The processes that belong to a launcher's job, according to their environment.
#include "engine/worker/launched_job.hpp"

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

using Variables = std::map<std::string, std::string>;

std::optional<LaunchedJob> job_in(const Variables& variables) {
  return launched_job([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

const Variables of_mpirun = {
    {"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
const Variables of_srun = {{"SLURM_PROCID", "1"},
                           {"SLURM_STEP_ID", "0"},
                           {"SLURM_STEP_NUM_TASKS", "8"},
                           {"SLURM_STEP_NUM_NODES", "2"},
                           {"PMIX_RANK", "1"}};

}  // namespace

TEST_CASE("a process without a launcher belongs to no job") { CHECK(!job_in({})); }

TEST_CASE("a process of mpirun knows its rank, the job's size and whether all are on this host") {
  const auto job = job_in(of_mpirun);
  REQUIRE(job);
  CHECK(job->launcher == Launcher::mpirun);
  CHECK(job->rank == 2);
  CHECK(job->size == 4);
  CHECK(!job->spans_hosts);
  Variables elsewhere = of_mpirun;
  elsewhere["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2";
  CHECK(job_in(elsewhere)->spans_hosts);
  CHECK(job->here == 4);
  CHECK(job_in(elsewhere)->here == 2);
}

TEST_CASE("a task of srun can be connected where Slurm serves PMIx") {
  const auto job = job_in(of_srun);
  REQUIRE(job);
  CHECK(job->launcher == Launcher::srun);
  CHECK(job->rank == 1);
  CHECK(job->size == 8);
  CHECK(job->spans_hosts);
  CHECK(job->has_pmix);
  CHECK(job->here == 0);
  Variables placed = of_srun;
  placed["SLURM_STEP_TASKS_PER_NODE"] = "3(x2),2";
  for (const auto& [node, here] : std::map<std::string, int>{{"0", 3}, {"1", 3}, {"2", 2}, {"3", 0}}) {
    placed["SLURM_NODEID"] = node;
    CHECK(job_in(placed)->here == here);
  }
  placed["SLURM_STEP_TASKS_PER_NODE"] = "many";
  CHECK(job_in(placed)->here == 0);
  Variables without = of_srun;
  without.erase("PMIX_RANK");
  CHECK(!job_in(without)->has_pmix);
}

TEST_CASE("a batch script is no task, though it has a number") {
  Variables batch = of_srun;
  batch.erase("SLURM_STEP_ID");
  batch.erase("SLURM_STEP_NUM_TASKS");
  CHECK(!job_in(batch));
}

TEST_CASE("ranks that mpirun starts in an allocation are mpirun's") {
  Variables both = of_srun;
  both.insert(of_mpirun.begin(), of_mpirun.end());
  CHECK(job_in(both)->launcher == Launcher::mpirun);
}

TEST_CASE("invalid numbers mean no job") {
  Variables odd = of_mpirun;
  odd["OMPI_COMM_WORLD_SIZE"] = "four";
  CHECK(!job_in(odd));
}
