// What a viewer tells a relay that it already has, so that a reconnect does not send it again: the body of
// viewer_hello.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "telemetry/event/sequence_set.hpp"

namespace rankscope {

/// At most a few thousand intervals travel; what is left out comes twice and is recognised.
std::string pack_history(const std::map<std::int32_t, SequenceSet>& seen);
/// Ignores what makes no sense.
std::map<std::int32_t, SequenceSet> unpack_history(std::span<const std::byte> bytes);

}  // namespace rankscope
