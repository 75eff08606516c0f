#include "engine/worker/launch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "engine/base/host/provenance.hpp"
#include "engine/execute/comm/mpi.hpp"
#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/worker/launched_job.hpp"
#include "engine/worker/reach.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Is that program in one of PATH's folders?
bool is_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((fs::path(folder.empty() ? "." : folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

void check_launched(const Scenario& scenario, const RunRequest& request) {
  const LaunchedJob& job = *request.launched;
  if (!request.hosts.empty())
    throw ScenarioError(fmt::format(
        "--hosts: {0} has chosen the hosts already; give them to {0}, or leave it out: rankscope-engine then starts "
        "mpirun itself",
        name_of(job.launcher)));
  if (request.restarts > 0)
    throw ScenarioError(fmt::format(
        "--restarts: {0} started the ranks and does not start them again; leave {0} out: rankscope-engine then starts "
        "mpirun itself, each time",
        name_of(job.launcher)));
  check_job_size(scenario, request);
}

}  // namespace

void check_job_size(const Scenario& scenario, const RunRequest& request) {
  const int ranks = scenario.plan.ranks();
  if (!request.launched || request.launched->size == ranks) return;
  const LaunchedJob& job = *request.launched;
  throw ScenarioError(fmt::format("{0} started {1}, and the plan has {2}: {0} -n {3} starts as many",
                                  name_of(job.launcher), counted(job.size, "process", ending_es),
                                  counted(ranks, "rank"), ranks));
}

void check_launch(const Scenario& scenario, const RunRequest& request) {
  if (request.communicator == CommunicatorKind::loopback) {
    if (!request.hosts.empty())
      throw ScenarioError("--hosts: the ranks of --comm loopback are threads of this process; use --comm mpi");
    return;
  }
  const std::string how = "--comm " + request.communicator.name();
  if (!mpi_is_built_in())
    throw ScenarioError(how + ": this rankscope-engine was built without MPI; use --comm loopback");
  if (request.launched) return check_launched(scenario, request);
  if (!is_in_path("mpirun")) throw ScenarioError(how + ": no mpirun in PATH; install Open MPI, or use --comm loopback");
  if (!request.hosts.empty()) check_slots(read_hosts(request.hosts), scenario.plan.ranks(), request.hosts);
}

bool may_span_hosts(const RunRequest& request) {
  if (request.communicator == CommunicatorKind::loopback) return false;
  if (request.launched) return request.launched->spans_hosts;
  return !request.hosts.empty() || allocation_spans_hosts();
}

std::optional<RankRange> ranks_here(const Scenario& scenario, const RunRequest& request) {
  const int ranks = scenario.plan.ranks();
  if (!may_span_hosts(request)) return RankRange{0, ranks};
  if (request.launched)
    return request.launched->here > 0 ? std::optional(RankRange{0, request.launched->here}) : std::nullopt;
  if (request.hosts.empty()) return std::nullopt;
  const std::string name = host_name();
  const std::vector<std::string> addresses = own_addresses();
  return ranks_on(read_hosts(request.hosts), ranks, [&](const std::string& host) {
    return host == name || host == name.substr(0, name.find('.')) || host == "localhost" || host.starts_with("127.") ||
           contains(addresses, host);
  });
}

std::vector<std::string> worker_command(const Scenario& scenario, const RunRequest& request) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  if (request.communicator == CommunicatorKind::loopback || request.launched) return {self, "worker"};
  std::vector<std::string> command{"mpirun", "-n",        std::to_string(scenario.plan.ranks()), "--bind-to", "none",
                                   "-x",     job_variable};
  if (request.hosts.empty())
    command.emplace_back("--oversubscribe");
  else
    command.insert(command.end(), {"--host", host_list(read_hosts(request.hosts))});
  if (geteuid() == 0) command.emplace_back("--allow-run-as-root");
  command.insert(command.end(), {self, "worker"});
  return command;
}

std::vector<std::string> launch_environment(const RunRequest& request) {
  // Nobody can type a password, and an unreachable host must not delay the start.
  constexpr const char* arguments = "OMPI_MCA_plm_rsh_args";
  if (request.hosts.empty() || std::getenv(arguments)) return {};
  return {std::string(arguments) + "=-o BatchMode=yes -o ConnectTimeout=10"};
}

}  // namespace rankscope
