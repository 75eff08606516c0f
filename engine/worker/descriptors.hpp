// File descriptors that a run's processes need. A launcher that runs out of them waits forever without a message.
#pragma once
#include "engine/plan/scenario/run_choices.hpp"

namespace rankscope {

/// Raises this process's limit, which its children inherit, to what so many ranks need under that communicator. Throws
/// ScenarioError where the system does not allow as many.
void need_descriptors(int ranks, CommunicatorKind communicator);

}  // namespace rankscope
