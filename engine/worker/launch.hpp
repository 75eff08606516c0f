// How the processes of a run's ranks are started, and on which hosts.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/scenario/scenario.hpp"
#include "engine/worker/hosts.hpp"
#include "engine/worker/worker.hpp"

namespace rankscope {

/// Rejects a request that cannot be started. Throws ScenarioError.
void check_launch(const Scenario& scenario, const RunRequest& request);
/// Throws ScenarioError if RunRequest::launched does not have as many processes as the plan has ranks.
void check_job_size(const Scenario& scenario, const RunRequest& request);
/// Whether ranks may be on hosts other than the supervisor's.
bool may_span_hosts(const RunRequest& request);
/// The ranks that will be on this host, as launchers place them by default; nullopt: only
/// the launcher knows.
std::optional<RankRange> ranks_here(const Scenario& scenario, const RunRequest& request);
/// The program that the supervisor starts: the worker with all ranks, the launcher of all workers, or, in a job that a
/// launcher has started, the worker of rank 0.
std::vector<std::string> worker_command(const Scenario& scenario, const RunRequest& request);
/// Environment variables for it, in addition to the job's.
std::vector<std::string> launch_environment(const RunRequest& request);

}  // namespace rankscope
