// The processes of a run. A *worker* holds ranks (all of them under loopback, one under mpi) and runs the program; the
// *supervisor* outside owns relay, recorder and store, starts the workers and reports their outcome.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/scenario/run_choices.hpp"
#include "engine/plan/scenario/scenario.hpp"
#include "engine/worker/launched_job.hpp"

namespace rankscope {

/// The user's request to `rankscope-engine run`.
struct RunRequest {
  Choice<CommunicatorKind> communicator = CommunicatorKind::loopback;
  Choice<DeviceKind> device = DeviceKind::cpu;
  Choice<ClockChoice> clock = ClockChoice::automatic;
  int threads = 1;                   ///< of a rank's compute lane
  std::vector<std::string> without;  ///< a GPU's fast paths that are switched off (word_table<FastPath>)
  std::string record;                ///< trace file; empty: none
  std::string publish;               ///< endpoint; empty: this user's own sessions only
  int await_viewers = 0;             ///< at its end, the run waits at most 10 s until this many viewers have joined
  std::string keep = "all";
  /// Where viewers' endpoint and keys go, each file with a key of its own; makes keys, which an endpoint beyond this
  /// machine needs.
  std::vector<std::string> join_files;
  std::string checkpoint;  ///< folder of the checkpoints; empty: FILE.checkpoints beside where it runs, if any are made
  std::string resume;      ///< a checkpoint, or a folder whose newest one it goes on from; empty: from the start
  int restarts = 0;        ///< how often to go on by itself from the newest checkpoint when a rank is lost
  std::string hosts;       ///< file of the hosts that mpirun shall use; empty: its own choice
  std::optional<LaunchedJob> launched;  ///< whose processes are the ranks; none: the supervisor starts them
  bool any_size = false;                ///< begin also what needs more memory than is available
  bool json = false;
};

/// How supervisor and worker meet: handed over in the environment and in a directory of mode 0700, since it holds keys;
/// rank 0 passes it on to the others over MPI.
struct WorkerJob {
  std::string directory;  ///< of the supervisor's host: holds scenario.toml, and the spools of that host's ranks
  std::string scenario;   ///< the content of scenario.toml; empty: too long for an environment
  std::string session;    ///< 32 hexadecimal digits
  std::string join;       ///< the relay's join string; empty: nobody listens
  std::string host;       ///< the supervisor's
  std::vector<std::string> addresses;  ///< of that host, where the relay is bound to all of them; empty: as `join` says
  bool refused = false;                ///< the supervisor runs nothing, and the ranks shall end
  RunRequest request;
  std::int64_t start_ns = 0;  ///< monotonic clock of this host: the zero of times, where ranks are threads
};
/// In WorkerJob::directory: the scenario that runs, overrides included.
inline constexpr const char* scenario_file_name = "scenario.toml";

/// The environment variable that holds a worker's job.
inline constexpr const char* job_variable = "RANKSCOPE_JOB";

/// What a worker's line on standard error begins with that says why the relay does not let it in; the supervisor passes
/// it on at once.
inline constexpr const char* not_admitted = "rankscope-engine: not accepted: ";

/// What a worker's line on standard error begins with that is told while the run goes on: which GPU and libraries it
/// has, and which products a library did not compute. The supervisor passes it on at once, and each line once.
inline constexpr const char* worker_note = "rankscope-engine: note: ";

/// A job as a worker is given it, and back. A text that is none throws nlohmann::json::exception.
std::string to_text(const WorkerJob& job);
WorkerJob parse_job(const std::string& text);
/// The environment variables of a job, "NAME=value".
std::vector<std::string> environment_of(const WorkerJob& job);
/// The job in this process's environment. Throws std::runtime_error when there is none.
WorkerJob job_from_environment();

/// Runs a worker; returns its exit status. Of ranks that are processes, rank 0's job counts: the others need only say
/// what they run on (RunRequest).
int run_worker(const WorkerJob& job);

/// The supervisor's: runs, reports on standard output; its exit status.
int run_supervised(const Scenario& scenario, const RunRequest& request);

}  // namespace rankscope
