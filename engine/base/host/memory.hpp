// The memory that this process may still have, and the end of a process that gets none.
#pragma once
#include <cstdint>
#include <string>

namespace rankscope {

/// What this process and its children may take more of, and what says so.
struct AvailableMemory {
  std::int64_t bytes = 0;
  std::string limited_by;  ///< "free on this machine", "left of the container's limit", …
};
/// The least of: the machine's available memory, what is left of the control group's limits, and of this process's
/// address space (RLIMIT_AS). Zero bytes where nothing can be found out.
AvailableMemory available_memory();

/// From now on a process whose operator new gets no memory ends with one line on standard error and exit status 1.
/// What it holds is not written any more: a process without memory cannot be relied on to unwind.
void end_when_memory_runs_out();


}  // namespace rankscope
