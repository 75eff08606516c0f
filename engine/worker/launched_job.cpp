#include "engine/worker/launched_job.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace rankscope {
namespace {

std::optional<int> number(const char* text) {
  if (!text) return std::nullopt;
  const std::string_view digits(text);
  int value = 0;
  const auto [end, bad] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (bad != std::errc{} || end != digits.data() + digits.size() || value < 0) return std::nullopt;
  return value;
}

const char* own_value(const char* name) { return std::getenv(name); }

}  // namespace

std::optional<LaunchedJob> launched_job(const EnvironmentOf& value_of) {
  LaunchedJob job;
  const auto rank = number(value_of("OMPI_COMM_WORLD_RANK")), size = number(value_of("OMPI_COMM_WORLD_SIZE"));
  if (rank && size) {
    const auto here = number(value_of("OMPI_COMM_WORLD_LOCAL_SIZE"));
    return LaunchedJob{"mpirun", *rank, *size, here && *here < *size};
  }
  // A batch script has a SLURM_PROCID, too, but no step of its own.
  const auto task = number(value_of("SLURM_PROCID")), tasks = number(value_of("SLURM_STEP_NUM_TASKS"));
  if (!task || !tasks || !number(value_of("SLURM_STEP_ID"))) return std::nullopt;
  const auto nodes = number(value_of("SLURM_STEP_NUM_NODES"));
  return LaunchedJob{"srun", *task, *tasks, nodes && *nodes > 1, -1, value_of("PMIX_RANK") != nullptr};
}

std::optional<LaunchedJob> launched_job() { return launched_job(own_value); }

bool allocation_spans_hosts(const EnvironmentOf& value_of) {
  const auto nodes = number(value_of("SLURM_JOB_NUM_NODES"));
  return nodes && *nodes > 1;
}

bool allocation_spans_hosts() { return allocation_spans_hosts(own_value); }

}  // namespace rankscope
