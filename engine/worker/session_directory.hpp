// The directory of one session: the scenario that runs, the spools and the local socket, open to this user alone.
#pragma once
#include <filesystem>

namespace rankscope {

class SessionDirectory {
 public:
  /// Makes one, and removes those that supervisors of this user left behind when they were killed: a supervisor holds a
  /// lock in its directory for as long as it lives. Throws JoinError.
  SessionDirectory();
  /// Removes it with all that is in it.
  ~SessionDirectory();
  SessionDirectory(const SessionDirectory&) = delete;
  SessionDirectory& operator=(const SessionDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace rankscope
