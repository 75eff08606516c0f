// A lock on a file that only one process at a time can hold. The system releases it when the process ends for any
// reason, so no clean-up is needed. A rejected process gets the name of the process that holds it.
#pragma once
#include <optional>
#include <string>

namespace rankscope {

class FileLock {
 public:
  FileLock() = default;
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

  /// Locks `path` (created if missing) and writes the name of this process into it. Empty `trouble`: the lock is held.
  /// Else the reason: "process 1234 on node7 (rankscope-engine run …) has it", or the system's message.
  static FileLock take(const std::string& path, std::string& trouble);
  bool is_held() const { return file_ >= 0; }

 private:
  int file_ = -1;
};

/// Locks an open file until it is closed. Nullopt: locked, or its file system has no locks. Else the holder, as text;
/// `path` is the file's.
std::optional<std::string> lock_open_file(int file, const std::string& path);

}  // namespace rankscope
