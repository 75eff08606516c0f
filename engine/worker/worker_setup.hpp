// The supervisor's data for the workers of a session: the relay that they connect to, their job, and their environment.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "engine/worker/worker.hpp"
#include "telemetry/relay/relay.hpp"

namespace rankscope {

/// The relay's options and, with keys, the join string of the workers.
struct RelaySetup {
  RelayOptions relay;
  RelayKeys keys;
};
RelaySetup make_relay_setup(const RunRequest& request, const std::filesystem::path& directory,
                            const SessionId& session);

WorkerJob worker_job(const Scenario& scenario, const RunRequest& request, const std::filesystem::path& directory,
                     const SessionId& session, const RelaySetup& setup, const Relay& relay);

/// Variables that the worker processes have in addition to the supervisor's own.
std::vector<std::string> environment_of_child(const WorkerJob& job, const Scenario& scenario);

}  // namespace rankscope
