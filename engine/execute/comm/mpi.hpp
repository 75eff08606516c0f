// Ranks as processes, on one host or several, over MPI (tested with Open MPI).
//
// "auto" passes a collective to MPI: its bytes on the wire are unknown (-1), and the order of its sums is MPI's. The
// transparent algorithms use point-to-point messages, each synchronous, and are counted.
//
// If a rank dies by a signal or exits without MPI_Finalize, mpirun itself ends all the other ranks within about a
// second (SIGTERM, then SIGKILL) and returns a status other than 0; nothing inside the job needs to detect it. A rank
// that only fails calls World::abort: every other rank's current or next wait then throws CommError with the reason,
// within some 0.1 s. A rank that hangs is named when the time limit of a waiting rank elapses. After any of these the
// world cannot be finalised regularly: the process reports the failure and then calls mpi_abort.
#pragma once
#include <memory>

#include "engine/execute/comm/communicator.hpp"
#include "engine/execute/comm/options.hpp"

namespace rankscope {

/// True in a build with MPI.
bool mpi_is_built_in();

/// Initialises MPI with MPI_THREAD_MULTIPLE; one world per process. Destroying it finalises MPI, unless it has failed.
/// Throws CommError if MPI is not built in, was already initialised, or does not support that level of threads.
std::unique_ptr<World> mpi_world(CommOptions options = {});

/// Ends every process of the job at once with this exit status: the last call of a failed rank. Does not return.
[[noreturn]] void mpi_abort(int status);

}  // namespace rankscope
