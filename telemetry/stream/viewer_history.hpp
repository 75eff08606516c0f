// The list of messages that a viewer already has, so that the relay does not send them again after a reconnect: the
// body of viewer_hello.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "telemetry/event/sequence_set.hpp"

namespace rankscope {

/// At most a few thousand intervals are sent; messages left out arrive twice and are skipped.
std::string pack_history(const std::map<std::int32_t, SequenceSet>& seen);
/// Ignores invalid data.
std::map<std::int32_t, SequenceSet> unpack_history(std::span<const std::byte> bytes);

}  // namespace rankscope
