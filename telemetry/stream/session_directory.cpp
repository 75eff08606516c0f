#include "telemetry/stream/session_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>

#include "telemetry/stream/join.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* prefix = "rankscope-";
constexpr const char* lock_name = "supervisor";
constexpr const char* shared_memory_name = "shared-memory";
constexpr const char* shared_memory_folder = "/dev/shm";
// Younger ones may have an owner that has no lock yet, or workers that are about to end.
constexpr auto youngest_removed = std::chrono::minutes(1);

/// True if the directory has an owner's lock file that no process has locked any more, or nothing at all: its owner was
/// killed before it had a lock. One with other files and without a lock is not a session's.
bool is_abandoned(const fs::path& directory) {
  struct stat info {};
  if (lstat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid()) return false;
  if (std::chrono::system_clock::now() - std::chrono::system_clock::from_time_t(info.st_mtime) < youngest_removed)
    return false;
  const int lock = open((directory / lock_name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  std::error_code ignored;
  if (lock < 0) return errno == ENOENT && (info.st_mode & 07777) == S_IRWXU && fs::is_empty(directory, ignored);
  const bool is_free = flock(lock, LOCK_EX | LOCK_NB) == 0;
  close(lock);
  return is_free;
}

/// Removes the machine's shared memory that the ranks of a session have listed, and did not remove because they were
/// killed.
void remove_shared_memory(const fs::path& directory) {
  std::ifstream notes(directory / shared_memory_name);
  for (std::string line; std::getline(notes, line);) {
    const fs::path file(line);
    struct stat info {};
    if (file.parent_path() == shared_memory_folder && lstat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        info.st_uid == geteuid())
      unlink(file.c_str());
  }
}

/// Removes a session's directory. The lock goes last, and comes back if a rank that is about to end has written a file
/// meanwhile: a directory with a lock is one that the next owner removes.
void remove_session(const fs::path& directory) {
  remove_shared_memory(directory);
  std::error_code ignored;
  for (fs::directory_iterator entry(directory, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    std::error_code not_removed;
    if (entry->path().filename() != lock_name) fs::remove_all(entry->path(), not_removed);
  }
  unlink((directory / lock_name).c_str());
  if (rmdir(directory.c_str()) == 0) return;
  if (const int lock = open((directory / lock_name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); lock >= 0)
    close(lock);
}

void remove_abandoned_beside(const fs::path& mine) {
  std::error_code ignored;
  for (fs::directory_iterator entry(mine.parent_path(), ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    const fs::path& path = entry->path();
    if (path == mine || !path.filename().string().starts_with(prefix) || !is_abandoned(path)) continue;
    remove_session(path);
  }
}

}  // namespace

void note_shared_memory(const fs::path& directory) {
  std::ifstream maps("/proc/self/maps");
  std::ostringstream names;
  for (std::string line; std::getline(maps, line);)
    if (const auto at = line.find(std::string(shared_memory_folder) + "/"); at != std::string::npos)
      names << line.substr(at) << "\n";
  const std::string text = names.str();
  if (text.empty()) return;
  const int file = open((directory / shared_memory_name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;  // ranks on other hosts may not have this directory
  [[maybe_unused]] const ssize_t written = write(file, text.data(), text.size());
  close(file);
}

SessionDirectory::SessionDirectory() : path_(make_private_directory(prefix)) {
  lock_ = open((path_ / lock_name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0 || flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const std::string why = std::strerror(errno);
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    throw JoinError((path_ / lock_name).string() + ": " + why);
  }
  remove_abandoned_beside(path_);
}

SessionDirectory::~SessionDirectory() {
  remove_session(path_);
  close(lock_);
}

}  // namespace rankscope
