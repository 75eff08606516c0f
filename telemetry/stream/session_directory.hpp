// The directory of one session, accessible to this user only: for a run the scenario, the spools and the local socket;
// for a window the sockets that it creates for its runs and its class.
#pragma once
#include <filesystem>

namespace rankscope {

class SessionDirectory {
 public:
  /// Creates one, and removes those whose owners were killed: an owner holds a lock in its directory as long as it
  /// lives. Throws JoinError.
  SessionDirectory();
  /// Removes it with all its files, and the shared memory that is listed there.
  ~SessionDirectory();
  SessionDirectory(const SessionDirectory&) = delete;
  SessionDirectory& operator=(const SessionDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

/// Lists in a session's directory which files of shared memory this process has (Open MPI creates one for each rank),
/// so that they are removed together with the directory if the process is killed.
void note_shared_memory(const std::filesystem::path& directory);

}  // namespace rankscope
