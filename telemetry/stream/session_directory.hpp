// The directory of one session, open to this user alone: of a run the scenario, the spools and the local socket; of a
// window the sockets that it makes for its runs and its class.
#pragma once
#include <filesystem>

namespace rankscope {

class SessionDirectory {
 public:
  /// Makes one, and removes those whose owners were killed: an owner holds a lock in its directory for as long as it
  /// lives. Throws JoinError.
  SessionDirectory();
  /// Removes it with all that is in it, and the shared memory that is noted there.
  ~SessionDirectory();
  SessionDirectory(const SessionDirectory&) = delete;
  SessionDirectory& operator=(const SessionDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

/// Notes in a session's directory which files of shared memory this process has (Open MPI makes one for each rank), so
/// that whoever removes the directory removes them, too, if the process is killed.
void note_shared_memory(const std::filesystem::path& directory);

}  // namespace rankscope
