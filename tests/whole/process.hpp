// The real programs, started as by a user, with a time limit on everything.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/worker/exit_status.hpp"
#include "tests/slowness.hpp"
#include "tests/wait_until.hpp"

namespace rankscope::test {

/// The limit of what must end soon, for a machine that is busy with other work: it takes 2 to 8 s on an idle one.
inline constexpr std::chrono::seconds some_seconds{30 * slowness};
/// The limit of a wait, which only ends what hangs.
inline constexpr std::chrono::seconds a_minute{60 * slowness};

/// An empty directory for one test, removed with it. Programs that are started with it have it as their TMPDIR, and are
/// identified by that.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  /// Makes that file; returns its path.
  std::string file(const std::string& name, const std::string& text) const;

  /// Processes that were started with this folder, or by those, and still exist (without zombies).
  std::vector<pid_t> processes() const;
  /// Waits until there are none; returns the remaining ones after the limit.
  std::vector<pid_t> processes_after(std::chrono::milliseconds limit) const;
  /// Remaining session directories.
  std::vector<std::string> sessions() const;

 private:
  std::filesystem::path path_;
};

/// The file's bytes.
std::string content_of(const std::filesystem::path& file);

/// How a program ended, and its output.
struct Ended {
  int status = -1;  ///< of exit(); -1 with a signal
  int signal = 0;
  bool in_time = true;  ///< false: it was killed after the limit
  double seconds = 0;
  std::string out, err;
};

struct StartOptions {
  std::vector<std::string> environment;  ///< NAME=value, added to this process's
  std::string input;                     ///< on standard input
};

class Process {
 public:
  /// Starts `command[0]`, a path, in `folder`.
  Process(const Folder& folder, const std::vector<std::string>& command, const StartOptions& options = {});
  /// Kills it and its group if it still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  Ended wait(std::chrono::milliseconds limit);
  /// The line of standard error that begins with this text, without the text; waits for it. Empty after the limit.
  std::string line_of_errors(const std::string& beginning, std::chrono::milliseconds limit) const;

 private:
  const Folder& folder_;
  std::filesystem::path out_, err_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  pid_t pid_ = -1;
};

/// rankscope-engine with these arguments, until it ends.
Ended engine(const Folder& folder, std::vector<std::string> arguments, const StartOptions& options = {});
std::vector<std::string> engine_command(std::vector<std::string> arguments);
/// rankscope-trace.
Ended trace_tool(const Folder& folder, std::vector<std::string> arguments);

/// "'a' 'b'": a command or its arguments for a shell.
std::string quoted(const std::vector<std::string>& words);

/// Path of an installed lab, such as lab("pipeline-1f1b").
std::string lab(const std::string& name);
/// Overrides that make a lab's model so small that a step takes some milliseconds.
std::vector<std::string> with_small_model(std::vector<std::string> arguments, int layers = 4);

/// True if this build has the mpi communicator, and it can be watched (not under the thread sanitizer). Prints
/// a message if false.
bool can_use_mpi();

/// A process's environment variable; empty if it has none.
std::string environment_of(pid_t process, const std::string& name);
/// A process's arguments, separated by spaces.
std::string arguments_of(pid_t process);
}  // namespace rankscope::test
