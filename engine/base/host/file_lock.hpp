// A lock on a file that one process at a time can hold. It ends with the process, however that ends, so nothing has to
// be cleaned up; and who is refused learns who holds it.
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

  /// Locks `path`, which is made if it is not there, and writes into it who this is. Empty `trouble`: it is held.
  /// Else why not: "process 1234 on node7 (rankscope-engine run …) has it", or what the system says.
  static FileLock take(const std::string& path, std::string& trouble);
  bool is_held() const { return file_ >= 0; }

 private:
  int file_ = -1;
};

/// Locks an open file until it is closed. Nullopt: done, or its file system knows no locks. Else who has it, in words;
/// `path` is the file's.
std::optional<std::string> lock_open_file(int file, const std::string& path);

/// "process 1234 on node7 (rankscope-engine run lab)", of this process.
std::string this_process();

}  // namespace rankscope
