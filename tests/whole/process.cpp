#include "tests/whole/process.hpp"
#include "tests/places.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "tests/judged.hpp"

extern char** environ;

using namespace std::chrono_literals;

namespace rankscope::test {
namespace {

namespace fs = std::filesystem;

/// The parts of a /proc file between its zero bytes.
std::vector<std::string> pieces_of(const fs::path& path) {
  std::vector<std::string> pieces;
  const std::string text = content_of(path);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    pieces.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return pieces;
}

fs::path proc(pid_t process, const char* file) { return fs::path("/proc") / std::to_string(process) / file; }

bool is_zombie(pid_t process) {
  const std::string stat = content_of(proc(process, "stat"));
  const std::size_t name_end = stat.rfind(") ");
  return name_end == std::string::npos || stat[name_end + 2] == 'Z' || stat[name_end + 2] == 'X';
}

int open_or_throw(const fs::path& path, int flags) {
  const int file = open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (file < 0) throw std::runtime_error("cannot open " + path.string());
  return file;
}

}  // namespace

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Folder::Folder() {
  // Orphans of a killed supervisor become children of this process, which then sees them end.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Short, because socket paths must be.
  std::string name = "/tmp/whole-XXXXXX";
  if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a directory in /tmp");
  path_ = name;
}

Folder::~Folder() {
  for (const pid_t process : processes()) kill(process, SIGKILL);
  processes_after(5s);
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Folder::file(const std::string& name, const std::string& text) const {
  const fs::path path = path_ / name;
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

std::vector<pid_t> Folder::processes() const {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (fs::directory_iterator entry("/proc", ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto process = static_cast<pid_t>(std::stol(name));
    if (process == getpid() || environment_of(process, "TMPDIR") != path_.string() || is_zombie(process)) continue;
    found.push_back(process);
  }
  return found;
}

std::vector<pid_t> Folder::processes_after(std::chrono::milliseconds limit) const {
  std::vector<pid_t> left;
  wait_until(limit, [&] {
    left = processes();
    return left.empty();
  });
  return left;
}

std::vector<std::string> Folder::sessions() const {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(path_))
    if (entry.path().filename().string().starts_with("rankscope-")) found.push_back(entry.path().string());
  return found;
}

Process::Process(const Folder& folder, const std::vector<std::string>& command, const StartOptions& options)
    : folder_(folder) {
  static int count = 0;
  const std::string number = std::to_string(++count);
  out_ = folder / (number + ".out");
  err_ = folder / (number + ".err");
  const int in = open_or_throw(folder.file(number + ".in", options.input), O_RDONLY);
  const int out = open_or_throw(out_, O_WRONLY | O_CREAT), err = open_or_throw(err_, O_WRONLY | O_CREAT);

  std::vector<std::string> variables;
  const auto is_ours = [&](const std::string& variable) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    return name == "TMPDIR=" || name == "XDG_RUNTIME_DIR=" ||
           std::any_of(options.environment.begin(), options.environment.end(),
                       [&](const std::string& given) { return given.starts_with(name); });
  };
  for (char** variable = environ; *variable; ++variable)
    if (!is_ours(*variable)) variables.emplace_back(*variable);
  variables.push_back("TMPDIR=" + folder.path().string());
  // Open MPI does not free all of its memory.
  variables.emplace_back("ASAN_OPTIONS=detect_leaks=0");
  variables.insert(variables.end(), options.environment.begin(), options.environment.end());
  std::vector<char*> argv, envp;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  for (const std::string& variable : variables) envp.push_back(const_cast<char*>(variable.c_str()));
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    setpgid(0, 0);
    if (chdir(folder.path().c_str()) != 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(126);
    execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  for (const int file : {in, out, err}) close(file);
}

Process::~Process() {
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Process::signal(int number) const {
  if (pid_ > 0) kill(pid_, number);
}

Ended Process::wait(std::chrono::milliseconds limit) {
  Ended ended;
  int status = 0;
  if (!wait_until(limit, [&] { return waitpid(pid_, &status, WNOHANG) == pid_; })) {
    ended.in_time = false;
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  ended.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  ended.out = content_of(out_);
  ended.err = content_of(err_);
  return ended;
}

std::string Process::line_of_errors(const std::string& beginning, std::chrono::milliseconds limit) const {
  std::string found;
  wait_until(limit, [&] {
    const std::string text = "\n" + content_of(err_);
    const std::size_t at = text.find("\n" + beginning);
    if (at == std::string::npos) return false;
    const std::size_t begin = at + 1 + beginning.size(), end = text.find('\n', begin);
    if (end == std::string::npos) return false;
    found = text.substr(begin, end - begin);
    return true;
  });
  return found;
}

std::vector<std::string> engine_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program("rankscope-engine"));
  return arguments;
}

Ended engine(const Folder& folder, std::vector<std::string> arguments, const StartOptions& options) {
  return Process(folder, engine_command(std::move(arguments)), options).wait(a_minute);
}

Ended trace_tool(const Folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program("rankscope-trace"));
  return Process(folder, arguments).wait(a_minute);
}

std::string quoted(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "'" : " '") + word + "'";
  return line;
}

std::string lab(const std::string& name) { return source_folder() + "/scenarios/labs/" + name + ".toml"; }

std::vector<std::string> with_small_model(std::vector<std::string> arguments, int layers) {
  for (const std::string& set :
       {"layers=" + std::to_string(layers), std::string("width=32"), std::string("context=16")}) {
    arguments.emplace_back("--set");
    arguments.push_back(set);
  }
  return arguments;
}

bool can_use_mpi() {
  if (RANKSCOPE_WHOLE_MPI == 0) not_judged("what runs under mpirun: no MPI in this build, or under this sanitizer");
  return RANKSCOPE_WHOLE_MPI != 0;
}

std::string environment_of(pid_t process, const std::string& name) {
  for (const std::string& variable : pieces_of(proc(process, "environ")))
    if (variable.starts_with(name + "=")) return variable.substr(name.size() + 1);
  return {};
}

std::string arguments_of(pid_t process) {
  std::string all;
  for (const std::string& argument : pieces_of(proc(process, "cmdline"))) all += (all.empty() ? "" : " ") + argument;
  return all;
}

}  // namespace rankscope::test
