// The memory that this process may still allocate, and how a process ends when an allocation fails.
#pragma once
#include <cstdint>
#include <string>

namespace rankscope {

/// The memory that this process and its children may still allocate, and the limit it comes from.
struct AvailableMemory {
  std::int64_t bytes = 0;
  std::string limited_by;  ///< "free on this machine", "left of the container's limit", …
};
/// The minimum of: the machine's available memory, the rest of the control group's limits, and the rest of this
/// process's address space (RLIMIT_AS). Zero bytes if unknown.
AvailableMemory available_memory();

/// From now on, if operator new fails the process ends with one line on standard error and exit status 1.
/// Its data are not written: a process without memory cannot reliably unwind.
void end_when_memory_runs_out();


}  // namespace rankscope
