#include "engine/worker/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

extern char** environ;

namespace rankscope {

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
                           Signals signals)
    : signals_(std::move(signals)) {
  // All allocations are before the fork.
  std::vector<char*> argv, envp;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  for (char** e = environ; *e; ++e) envp.push_back(*e);
  for (const std::string& e : environment) envp.push_back(const_cast<char*>(e.c_str()));
  envp.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, signals_.end);
    if (getppid() != parent) _exit(127);
    if (sigset_t blocked; sigemptyset(&blocked) == 0) {
      for (const int number : signals_.blocked) sigaddset(&blocked, number);
      sigprocmask(SIG_BLOCK, &blocked, nullptr);
    }
    // A launcher would consume the caller's input: mpirun reads all of it for its first rank.
    if (const int nothing = open("/dev/null", O_RDONLY); nothing > STDIN_FILENO) {
      dup2(nothing, STDIN_FILENO);
      close(nothing);
    }
    dup2(ends[1], STDERR_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);  // standard output belongs to the supervisor's report
    execvpe(argv[0], argv.data(), envp.data());
    const char* why = std::strerror(errno);
    for (const char* text : {static_cast<const char*>(argv[0]), ": ", why, "\n"})
      if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
    _exit(127);
  }
  close(ends[1]);
  errors_ = ends[0];
  fcntl(errors_, F_SETFL, O_NONBLOCK);
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (errors_ >= 0) close(errors_);
}

std::optional<int> ChildProcess::wait(std::chrono::milliseconds limit,
                                      const std::function<void(const std::string&)>& line) {
  pollfd waiting{errors_, POLLIN, 0};
  poll(&waiting, 1, static_cast<int>(limit.count()));
  char block[4096];
  for (ssize_t n = 0; (n = read(errors_, block, sizeof block)) > 0;) rest_.append(block, static_cast<std::size_t>(n));
  for (std::size_t end = 0; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1))
    line(rest_.substr(0, end));
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = -1;
  for (ssize_t n = 0; (n = read(errors_, block, sizeof block)) > 0;) rest_.append(block, static_cast<std::size_t>(n));
  for (std::size_t end = 0; !rest_.empty(); rest_.erase(0, end == std::string::npos ? end : end + 1)) {
    end = rest_.find('\n');
    line(rest_.substr(0, end));
  }
  return status;
}

void ChildProcess::signal(int number) const {
  if (pid_ <= 0) return;
  kill(pid_, number);
  if (number != SIGKILL) kill(pid_, SIGCONT);
}

}  // namespace rankscope
