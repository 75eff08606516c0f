#include "engine/worker/job_to_join.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <thread>

#include "engine/op/words.hpp"
#include "engine/plan/scenario/read.hpp"
#include "engine/worker/child.hpp"
#include "engine/worker/launched_job.hpp"
#include "engine/worker/signal_pipe.hpp"

namespace rankscope {
namespace {

constexpr std::chrono::seconds dismissal_limit{20};

/// Ends with the exit status of this process's child, which receives the signals sent to this process.
[[noreturn]] void wait_for_supervisor(pid_t supervisor) {
  const SignalPipe signals{SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD};
  for (;;) {
    const auto number = signals.wait(std::chrono::milliseconds(200));
    if (number && *number != SIGCHLD) kill(supervisor, *number == SIGUSR1 ? SIGUSR1 : SIGTERM);
    int status = 0;
    if (waitpid(supervisor, &status, WNOHANG) == supervisor)
      _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
}

int errors_of(pid_t process) {
  const std::string path = fmt::format("/proc/{}/fd/2", process);
  const int file = open(path.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  struct stat about {};
  if (file >= 0 && fstat(file, &about) == 0 && !S_ISREG(about.st_mode)) return file;
  if (file >= 0) close(file);
  return -1;
}

}  // namespace

RunRequest joined(RunRequest request, bool comm_given) {
  const auto job = launched_job();
  if (!job) return request;
  const bool uses_threads = comm_given && request.communicator == CommunicatorKind::loopback;
  if (job->size == 1 && (uses_threads || (job->launcher == Launcher::srun && !(comm_given && job->has_pmix))))
    return request;
  const std::string launcher = name_of(job->launcher);
  const std::string started = launcher + " started " + counted(job->size, "process", ending_es);
  if (uses_threads)
    throw ScenarioError("--comm loopback: its ranks are threads of one process, and " + started + "; leave out " +
                        launcher + ", or use --comm mpi");
  if (!job->has_pmix)
    throw ScenarioError(started +
                        " that Open MPI cannot connect: use srun --mpi=pmix (srun --mpi=list shows whether Slurm has "
                        "it), or call rankscope-engine run --comm mpi without srun in the batch script");
  if (request.communicator == CommunicatorKind::loopback) request.communicator = CommunicatorKind::mpi;
  request.launched = job;
  return request;
}

void report_once() {
  if (const auto job = launched_job(); job && job->rank > 0) std::cerr.rdbuf(nullptr);
}

void report_again() { std::cerr.rdbuf(std::clog.rdbuf()); }

void let_rank_0_report() {
  // The launcher ends this process when rank 0's has ended, which may take seconds on a busy machine.
  constexpr auto patience = std::chrono::seconds(8);
  if (std::cerr.rdbuf() == nullptr) std::this_thread::sleep_for(patience);
}

void refuse_launcher(const std::string& command) {
  const auto job = launched_job();
  if (job && job->size > 1)
    throw ScenarioError(
        fmt::format("{0}: it starts the processes of its runs itself, and {1} started {2} of it; leave out {1}",
                    command, name_of(job->launcher), job->size));
}

int continue_as_supervisor() {
  const int errors = errors_of(getppid());
  const pid_t parent = getpid(), child = fork();
  if (child < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (child > 0) wait_for_supervisor(child);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  signal(SIGPIPE, SIG_IGN);  // the launcher may close our standard output before the recording is finished
  return errors;
}

void dismiss_ranks() {
  WorkerJob refused;
  refused.refused = true;
  ChildProcess worker({std::filesystem::read_symlink("/proc/self/exe").string(), "worker"}, environment_of(refused));
  const auto end = std::chrono::steady_clock::now() + dismissal_limit;
  while (std::chrono::steady_clock::now() < end)
    if (worker.wait(std::chrono::milliseconds(50), [](const std::string&) {})) return;
}

}  // namespace rankscope
