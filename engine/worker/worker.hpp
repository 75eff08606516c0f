// The processes of a run. A *worker* holds ranks (all of them under loopback, one under mpi) and runs the program; the
// *supervisor* outside owns relay, recorder and store, starts the workers and says what became of them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/scenario/scenario.hpp"

namespace rankscope {

/// What a person asked `rankscope-engine run` for.
struct RunRequest {
  std::string communicator = "loopback";
  std::string device = "cpu";
  std::string clock = "auto";  ///< headline: "wall", "device", or "auto": device when ranks share cores
  int threads = 1;             ///< of a rank's compute lane
  std::string record;          ///< trace file; empty: none
  std::string publish;         ///< endpoint; empty: this user's own sessions only
  std::string keep = "all";
  /// Where viewers' endpoint and keys go, each file with a key of its own; makes keys, which an endpoint beyond this
  /// machine needs.
  std::vector<std::string> join_files;
  std::string checkpoint;  ///< folder of the checkpoints; empty: FILE.checkpoints beside where it runs, if any are made
  std::string resume;      ///< a checkpoint, or a folder whose newest one it goes on from; empty: from the start
  int restarts = 0;        ///< how often to go on by itself from the newest checkpoint when a rank is lost
  bool any_size = false;   ///< begin also what needs more memory than is available
  bool json = false;
};

/// How supervisor and worker meet: handed over in the environment and in a directory of mode 0700, since it holds keys.
struct WorkerJob {
  std::string directory;  ///< holds scenario.toml, and the spools
  std::string session;    ///< 32 hexadecimal digits
  std::string join;       ///< the relay's join string; empty: nobody listens
  RunRequest request;
  std::int64_t start_ns = 0;  ///< monotonic clock of this host: the zero of times
};
/// In WorkerJob::directory: the scenario that runs, overrides included.
inline constexpr const char* scenario_file_name = "scenario.toml";

/// The environment variables of a job, "NAME=value".
std::vector<std::string> environment_of(const WorkerJob& job);
/// The job in this process's environment. Throws std::runtime_error when there is none.
WorkerJob job_from_environment();

/// The worker's whole life; its exit status.
int run_worker(const WorkerJob& job);

/// The supervisor's: runs, reports on standard output; its exit status.
int run_supervised(const Scenario& scenario, const RunRequest& request);

}  // namespace rankscope
