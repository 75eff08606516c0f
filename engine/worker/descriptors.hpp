// File descriptors that a run's processes need. A launcher that runs out of them waits forever without a message.
#pragma once
#include <string>

namespace rankscope {

/// Raises this process's limit, which its children inherit, to what so many ranks need under that communicator. Throws
/// ScenarioError where the system does not allow as many.
void need_descriptors(int ranks, const std::string& communicator);

}  // namespace rankscope
