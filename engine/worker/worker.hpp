// The processes of a run. A *worker* holds ranks (all of them under loopback, one under mpi) and runs the program; the
// *supervisor*, a separate process, owns relay, recorder and store, starts the workers and reports their outcome.
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
  /// Files for viewers' endpoint and keys, each file with its own key; creates keys, which an endpoint outside this
  /// machine needs.
  std::vector<std::string> join_files;
  std::string checkpoint;  ///< folder of checkpoints; empty: FILE.checkpoints in the current folder, if any are made
  int grace = 30;          ///< seconds that a run with checkpoints has for the last one when it is asked to stop
  std::string resume;      ///< a checkpoint to continue from, or a folder: its newest one; empty: from the start
  int restarts = 0;        ///< how often to continue automatically from the newest checkpoint when a rank is lost
  std::string hosts;       ///< file of the hosts that mpirun must use; empty: its own choice
  std::optional<LaunchedJob> launched;  ///< whose processes are the ranks; none: the supervisor starts them
  std::string stop_on;                  ///< "nan": the run ends when its loss is not finite; empty: it goes on
  bool any_size = false;                ///< also start runs that need more memory than is available
  bool json = false;

  bool stops_on_nan() const { return stop_on == "nan"; }
};

/// How supervisor and worker connect: passed in the environment and in a directory of mode 0700, since it has keys;
/// rank 0 passes it on to the others over MPI.
struct WorkerJob {
  std::string directory;  ///< of the supervisor's host: holds scenario.toml, and the spools of that host's ranks
  std::string scenario;   ///< the content of scenario.toml; empty: too long for an environment
  std::string session;    ///< 32 hexadecimal digits
  std::string join;       ///< the relay's join string; empty: no relay
  std::string host;       ///< the supervisor's
  std::vector<std::string> addresses;  ///< of that host, if the relay is bound to all of them; empty: as in `join`
  bool refused = false;                ///< the supervisor runs nothing, and the ranks must end
  RunRequest request;
  std::int64_t start_ns = 0;  ///< monotonic clock of this host: the zero of times, if ranks are threads
};
/// In WorkerJob::directory: the scenario that runs, with overrides.
inline constexpr const char* scenario_file_name = "scenario.toml";

/// The environment variable that holds a worker's job.
inline constexpr const char* job_variable = "RANKSCOPE_JOB";

/// Prefix of a worker's line on standard error that states why the relay rejects it; the supervisor forwards
/// it at once.
inline constexpr const char* not_admitted = "rankscope-engine: not accepted: ";

/// Prefix of a worker's line on standard error that is reported during the run: which GPU and libraries it
/// has, and which products a library did not compute. The supervisor forwards it at once, and each line once.
inline constexpr const char* worker_note = "rankscope-engine: note: ";

/// A job as text for a worker, and back. An invalid text throws nlohmann::json::exception.
std::string to_text(const WorkerJob& job);
WorkerJob parse_job(const std::string& text);
/// The environment variables of a job, "NAME=value".
std::vector<std::string> environment_of(const WorkerJob& job);
/// The job in this process's environment. Throws std::runtime_error if there is none.
WorkerJob job_from_environment();

/// Runs a worker; returns its exit status. If ranks are processes, rank 0's job is used: the others need only state
/// their device (RunRequest).
int run_worker(const WorkerJob& job);

/// The supervisor: runs, reports on standard output; returns its exit status.
int run_supervised(const Scenario& scenario, const RunRequest& request);

}  // namespace rankscope
