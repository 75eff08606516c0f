// From when on the members of a message or a collective waited for the last of them.
#pragma once
#include <span>

#include "telemetry/event/event.hpp"

namespace rankscope {

/// One exchange's spans, of all its members. No bytes move before the last of them has arrived, but not every
/// communicator reports that time: an NCCL kernel waits inside. If no span has a wait but different begins,
/// each gets its wait for the last member, unless it had ended by then (a sender whose message was buffered).
void set_waiting(std::span<Span* const> members);

}  // namespace rankscope
