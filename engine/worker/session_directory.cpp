#include "engine/worker/session_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "telemetry/stream/join.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* prefix = "rankscope-";
constexpr const char* lock_name = "supervisor";
// Younger ones may belong to a supervisor that has not come to its lock yet, or to workers that are about to end.
constexpr auto youngest_removed = std::chrono::minutes(1);

/// True when the directory has a supervisor's lock that nobody holds any more.
bool is_abandoned(const fs::path& directory) {
  struct stat info {};
  if (lstat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid()) return false;
  if (std::chrono::system_clock::now() - std::chrono::system_clock::from_time_t(info.st_mtime) < youngest_removed)
    return false;
  const int lock = open((directory / lock_name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (lock < 0) return false;
  const bool is_free = flock(lock, LOCK_EX | LOCK_NB) == 0;
  close(lock);
  return is_free;
}

void remove_abandoned_beside(const fs::path& mine) {
  std::error_code ignored;
  for (fs::directory_iterator entry(mine.parent_path(), ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    const fs::path& path = entry->path();
    if (path == mine || !path.filename().string().starts_with(prefix) || !is_abandoned(path)) continue;
    std::error_code not_removed;
    fs::remove_all(path, not_removed);
  }
}

}  // namespace

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
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  close(lock_);
}

}  // namespace rankscope
