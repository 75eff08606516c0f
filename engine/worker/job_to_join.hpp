// A run inside a job that a launcher has started (mpirun -n 4 rankscope-engine run …, srun): each of its processes is a
// rank. Rank 0's process starts two more: the supervisor, outside of what the launcher watches, and the worker.
#pragma once
#include "engine/worker/worker.hpp"

namespace rankscope {

/// If this process belongs to such a job, the request with RunRequest::launched, and over MPI unless it states
/// otherwise. `comm_given`: the user chose the communicator. Throws ScenarioError if the job cannot be joined.
RunRequest joined(RunRequest request, bool comm_given);
/// An error that every process of such a job finds is reported by rank 0 only: others' standard error is closed until
/// report_again().
void report_once();
void report_again();
/// Before such a process ends with an error that rank 0 reports: gives rank 0 some seconds to do so. The launcher
/// forwards no output once a process has ended with an error.
void let_rank_0_report();
/// For commands that start the processes of their runs themselves. Throws ScenarioError inside a larger job.
void refuse_launcher(const std::string& command);

/// Continues in a child process, the supervisor, and returns only there: this process waits for it and forwards its
/// exit status and the launcher's signals. The launcher ends its own processes, with their groups, a second after one
/// of them is lost; the supervisor has its own group, and finishes its recording. The launcher then forwards
/// no more output of its processes: returned is a descriptor of its own standard error, for last messages; -1:
/// not available, for example if that is a file, where two processes would write at the same place.
int continue_as_supervisor();

/// Ends the other ranks cleanly: they wait for a run that rank 0's supervisor has rejected.
void dismiss_ranks();

}  // namespace rankscope
