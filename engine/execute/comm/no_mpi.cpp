// The replacement of mpi.cpp in a build without MPI.
#include <cstdlib>

#include "engine/execute/comm/mpi.hpp"

namespace rankscope {

bool mpi_is_built_in() { return false; }

std::unique_ptr<World> mpi_world(CommOptions) {
  throw CommError(
      "the communicator 'mpi' is not in this build: install Open MPI (libopenmpi-dev) and configure with "
      "RANKSCOPE_MPI=ON, or use 'loopback'");
}

void mpi_abort(int status) { std::_Exit(status); }

}  // namespace rankscope
