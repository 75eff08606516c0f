// Whether this process belongs to a job that a launcher (mpirun, srun) has started, and its number there.
#pragma once
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

namespace rankscope {

enum class Launcher { mpirun, srun };
inline std::string name_of(Launcher launcher) { return launcher == Launcher::mpirun ? "mpirun" : "srun"; }

struct LaunchedJob {
  Launcher launcher = Launcher::mpirun;
  int rank = 0, size = 1;
  bool spans_hosts = false;
  int launcher_errors = -1;  ///< descriptor of mpirun's own standard error, for last messages; -1: none
  int here = 0;              ///< number of its processes on this host; 0: unknown
  bool has_pmix = true;      ///< false: srun without --mpi=pmix; Open MPI cannot connect its processes
};

/// The value of an environment variable; null if there is none.
using EnvironmentOf = std::function<const char*(const char* name)>;

/// From the variables that Open MPI's mpirun and Slurm's srun set for each process. A batch script and a shell in an
/// allocation are not processes of a job.
std::optional<LaunchedJob> launched_job(const EnvironmentOf& value_of = std::getenv);

/// Whether mpirun would use other hosts by default: inside an allocation of several nodes.
bool allocation_spans_hosts(const EnvironmentOf& value_of = std::getenv);

}  // namespace rankscope
