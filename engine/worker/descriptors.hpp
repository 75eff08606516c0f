// File descriptors that a run's processes need. A launcher without free descriptors waits forever without a message.
#pragma once
#include "engine/plan/scenario/run_choices.hpp"

namespace rankscope {

/// Raises this process's limit, which its children inherit, to the need of these ranks with that communicator. Throws
/// ScenarioError if the system does not allow this.
void need_descriptors(int ranks, CommunicatorKind communicator);

}  // namespace rankscope
