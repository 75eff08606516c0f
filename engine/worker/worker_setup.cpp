#include "engine/worker/worker_setup.hpp"

#include <cstdlib>
#include <thread>

#include "engine/base/host/clock.hpp"
#include "engine/base/host/provenance.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/worker/launch.hpp"
#include "engine/worker/reach.hpp"
#include "telemetry/event/codec.hpp"
#include "telemetry/stream/join.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Whether all ranks would have to share this host's cores.
bool has_few_cores(const Scenario& scenario, const RunRequest& request) {
  return scenario.plan.ranks() * request.threads > static_cast<int>(std::thread::hardware_concurrency());
}

/// Ranks that would share cores have correct times only on the device clock. For processes, the workers resolve "auto",
/// since they have the number of workers on a host.
ClockChoice headline_clock(const Scenario& scenario, const RunRequest& request) {
  if (request.clock != ClockChoice::automatic) return request.clock;
  if (!computes(request.device)) return ClockChoice::wall;
  if (scenario.fault.slow_rank >= 0) return ClockChoice::device;  // the only clock on which it is slow
  if (request.device != DeviceKind::cpu)                          // ranks of one process share its GPU
    return scenario.plan.ranks() > 1 && request.communicator == CommunicatorKind::loopback ? ClockChoice::device
                                                                                           : ClockChoice::wall;
  if (request.communicator != CommunicatorKind::loopback) return request.clock;
  return has_few_cores(scenario, request) ? ClockChoice::device : ClockChoice::wall;
}

/// Whether an endpoint is bound to all addresses of this machine.
bool is_wildcard(const std::string& endpoint) {
  return endpoint.starts_with("tcp://0.0.0.0:") || endpoint.starts_with("tcp://*:") ||
         endpoint.starts_with("tcp://[::]:");
}

}  // namespace

RelaySetup make_relay_setup(const RunRequest& request, const fs::path& directory, const SessionId& session) {
  RelaySetup setup;
  setup.relay.session = session;
  setup.relay.spool_directory = (directory / "spool").string();
  setup.relay.endpoint = request.publish;
  if (request.publish.empty())
    setup.relay.endpoint = may_span_hosts(request) ? "tcp://0.0.0.0:*" : "ipc://" + (directory / "relay").string();
  // Threads of one process need no port: only this user can access the directory.
  if (!request.publish.empty() && request.communicator == CommunicatorKind::loopback)
    setup.relay.worker_endpoint = "ipc://" + (directory / "workers").string();
  if (!request.join_files.empty() || may_span_hosts(request)) {
    setup.keys = new_relay_keys(request.join_files.size());
    setup.relay.keys = setup.keys.relay;
    setup.relay.admitted = setup.keys.admitted();
    setup.relay.join_files = request.join_files;
  }
  return setup;
}

WorkerJob worker_job(const Scenario& scenario, const RunRequest& request, const fs::path& directory,
                     const SessionId& session, const RelaySetup& setup, const Relay& relay) {
  WorkerJob job;
  job.directory = directory.string();
  job.session = to_string(session);
  job.scenario = to_toml(scenario);
  job.join = to_string(relay.worker_join(setup.keys.worker, "127.0.0.1"));
  job.host = host_name();
  if (may_span_hosts(request) && is_wildcard(setup.relay.endpoint)) job.addresses = own_addresses();
  job.request = request;
  job.request.clock = headline_clock(scenario, request);
  job.start_ns = monotonic_ns();
  return job;
}

std::vector<std::string> environment_of_child(const WorkerJob& job, const Scenario& scenario) {
  std::vector<std::string> environment = environment_of(job), more = launch_environment(job.request);
  environment.insert(environment.end(), more.begin(), more.end());
  // The device clock counts the CPU time of the thread that calls a kernel. That thread must not spin while it waits
  // for the other threads of its team: on a busy machine they may not be running, and the wait is not a cost of the op.
  const bool may_count_cpu_time = job.request.clock == ClockChoice::device ||
                                  (job.request.clock == ClockChoice::automatic && has_few_cores(scenario, job.request));
  if (may_count_cpu_time && job.request.threads > 1 && std::getenv("OMP_WAIT_POLICY") == nullptr)
    environment.emplace_back("OMP_WAIT_POLICY=passive");
  return environment;
}

}  // namespace rankscope
