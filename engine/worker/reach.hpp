// How a worker on another host reaches the supervisor's relay.
#pragma once
#include <string>
#include <vector>

#include "engine/worker/worker.hpp"
#include "telemetry/stream/join.hpp"

namespace rankscope {

/// IPv4 addresses of this host's interfaces that are up, without loopback ones.
std::vector<std::string> own_addresses();

/// Where this process finds the job's relay: of the addresses that the supervisor's host has, the first that answers.
/// Throws std::runtime_error where none does.
Join reachable_relay(const WorkerJob& job);

}  // namespace rankscope
