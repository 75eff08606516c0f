#include "engine/worker/launched_job.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "engine/op/words.hpp"

namespace rankscope {
namespace {

std::optional<int> number(const char* text) {
  const auto value = text ? number_in<int>(text) : std::nullopt;
  return value && *value >= 0 ? value : std::nullopt;
}

/// From Slurm's "4(x2),3": the number of tasks on the node of that number; 0: unknown.
int tasks_on(std::string_view per_node, int node) {
  while (!per_node.empty()) {
    const std::string item(per_node.substr(0, per_node.find(',')));
    per_node.remove_prefix(std::min(per_node.size(), item.size() + 1));
    const auto times_at = item.find("(x");
    const auto tasks = number(item.substr(0, times_at).c_str());
    const auto nodes = times_at == std::string::npos || item.back() != ')'
                           ? std::optional(1)
                           : number(item.substr(times_at + 2, item.size() - times_at - 3).c_str());
    if (!tasks || !nodes) return 0;
    if (node < *nodes) return *tasks;
    node -= *nodes;
  }
  return 0;
}

}  // namespace

std::optional<LaunchedJob> launched_job(const EnvironmentOf& value_of) {
  LaunchedJob job;
  const auto rank = number(value_of("OMPI_COMM_WORLD_RANK")), size = number(value_of("OMPI_COMM_WORLD_SIZE"));
  if (rank && size) {
    const auto here = number(value_of("OMPI_COMM_WORLD_LOCAL_SIZE"));
    return LaunchedJob{Launcher::mpirun, *rank, *size, here && *here < *size, -1, here.value_or(0)};
  }
  // A batch script also has a SLURM_PROCID, but no step of its own.
  const auto task = number(value_of("SLURM_PROCID")), tasks = number(value_of("SLURM_STEP_NUM_TASKS"));
  if (!task || !tasks || !number(value_of("SLURM_STEP_ID"))) return std::nullopt;
  const auto nodes = number(value_of("SLURM_STEP_NUM_NODES"));
  const char* const per_node = value_of("SLURM_STEP_TASKS_PER_NODE");
  const int here = per_node ? tasks_on(per_node, number(value_of("SLURM_NODEID")).value_or(0)) : 0;
  return LaunchedJob{Launcher::srun, *task, *tasks, nodes && *nodes > 1, -1, here, value_of("PMIX_RANK") != nullptr};
}

bool allocation_spans_hosts(const EnvironmentOf& value_of) {
  const auto nodes = number(value_of("SLURM_JOB_NUM_NODES"));
  return nodes && *nodes > 1;
}

}  // namespace rankscope
