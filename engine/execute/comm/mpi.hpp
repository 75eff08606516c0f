// Ranks as processes, on one host or several, over MPI (tested with Open MPI).
//
// "auto" hands a collective to MPI: its bytes on the wire are not known (-1), and the order of its sums is MPI's. The
// transparent algorithms run over point-to-point messages, each synchronous, and are counted.
//
// When a rank dies by a signal or leaves without MPI_Finalize, mpirun ends all the other ranks itself within about a
// second (SIGTERM, then SIGKILL) and returns a status other than 0; nothing inside the job needs to notice. A rank that
// only fails calls World::abort: every other rank's present or next wait then throws CommError with the reason, within
// some 0.1 s. A rank that hangs is named by the time limit of those that wait for it. After any of these the world
// can't be finalised in order: the process reports what it has to and then calls mpi_abort.
#pragma once
#include <memory>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/comm/options.hpp"

namespace rankscope {

/// True in a build with MPI.
bool mpi_is_built_in();

/// Initialises MPI with MPI_THREAD_MULTIPLE; one world a process. Destroying it finalises MPI, unless it has failed.
/// Throws CommError when MPI is not built in, was already initialised, or does not offer that level of threads.
std::unique_ptr<World> mpi_world(CommOptions options = {});

/// Ends every process of the job at once with this exit status: the last thing a failed rank does. Does not return.
[[noreturn]] void mpi_abort(int status);

}  // namespace rankscope
