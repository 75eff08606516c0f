// A run inside a job that a launcher has started (mpirun -n 4 rankscope-engine run …, srun): each of its processes is a
// rank. Rank 0's process starts two more: the supervisor, outside of what the launcher watches, and the worker.
#pragma once
#include "engine/worker/worker.hpp"

namespace rankscope {

/// Where this process belongs to such a job, the request with RunRequest::launched, and over MPI unless it says
/// otherwise. `comm_given`: a person chose the communicator. Throws ScenarioError where the job cannot be joined.
RunRequest joined(RunRequest request, bool comm_given);
/// What every process of such a job finds wrong, rank 0's alone reports: the others' standard error is closed until
/// report_again().
void report_once();
void report_again();
/// Before such a process ends with an error that rank 0 reports: gives rank 0 some seconds to do so. The launcher
/// passes on nothing more once a process has ended with an error.
void let_rank_0_report();
/// For commands that start the processes of their runs themselves. Throws ScenarioError inside a job of several.
void refuse_launcher(const std::string& command);

/// Continues in a child process, the supervisor, and returns there alone: this process waits for it and passes on its
/// exit status and the launcher's signals. The launcher ends its own processes, with their groups, a second after one
/// of them was lost; the supervisor has a group of its own, and finishes its recording. The launcher then passes on
/// nothing more of what its processes write: returned is a descriptor of its own standard error, for last messages; -1:
/// it cannot be had, as where that is a file, into which two would write at one place.
int continue_as_supervisor();

/// Ends the other ranks in order: they wait for what rank 0's supervisor has refused to run.
void dismiss_ranks();

}  // namespace rankscope
