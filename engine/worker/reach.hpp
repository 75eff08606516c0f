// How a worker on another host reaches the supervisor's relay.
#pragma once
#include <string>
#include <vector>

#include "engine/worker/worker.hpp"
#include "telemetry/stream/join.hpp"

namespace rankscope {

/// IPv4 addresses of this host's active interfaces, without loopback ones.
std::vector<std::string> own_addresses();

/// This process's address of the job's relay: the first address of the supervisor's host that answers.
/// Throws std::runtime_error if none does.
Join reachable_relay(const WorkerJob& job);

}  // namespace rankscope
