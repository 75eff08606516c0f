#include "engine/base/host/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "engine/base/host/excerpt.hpp"
#include "engine/base/host/provenance.hpp"

namespace rankscope {
namespace {

std::string command_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  // The program without its folder, in whose name spaces may be.
  if (const std::size_t slash = text.substr(0, text.find('\0')).rfind('/'); slash != std::string::npos)
    text.erase(0, slash + 1);
  for (char& c : text)
    if (c == '\0' || c == '\n') c = ' ';
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string described(const std::string& process) {
  const std::string command = command_of(process);
  return "process " + process + " on " + host_name() + (command.empty() ? "" : " (" + excerpt(command) + ")");
}

/// The process of this machine that has a flock on that file; empty: none is visible to this process.
std::string holder_of(int file) {
  struct stat info {};
  if (fstat(file, &info) != 0) return {};
  const std::string place = fmt::format("{:02x}:{:02x}:{}", major(info.st_dev), minor(info.st_dev), info.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::array<char, 32> kind{}, where{};
    long process = 0;
    // "3: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF"
    if (std::sscanf(line.c_str(), "%*s %31s %*s %*s %ld %31s", kind.data(), &process, where.data()) == 3 &&
        std::strcmp(kind.data(), "FLOCK") == 0 && place == where.data() && process > 0)
      return std::to_string(process);
  }
  return {};
}

bool knows_no_locks(int error) { return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL; }

/// "process 1234 on node7 (rankscope-engine run lab)", of this process.
std::string this_process() { return described(std::to_string(getpid())); }

}  // namespace

std::optional<std::string> lock_open_file(int file, const std::string& path) {
  if (flock(file, LOCK_EX | LOCK_NB) == 0 || knows_no_locks(errno)) return std::nullopt;
  if (errno != EWOULDBLOCK) return path + " cannot be locked: " + std::strerror(errno);
  const std::string process = holder_of(file);
  if (!process.empty()) return described(process) + " has it";
  return "a process that cannot be seen from " + host_name() + " has it";
}

FileLock FileLock::take(const std::string& path, std::string& trouble) {
  trouble.clear();
  FileLock lock;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (file < 0) {
    trouble = path + ": " + std::strerror(errno);
    return lock;
  }
  if (const auto holder = lock_open_file(file, path)) {
    trouble = *holder;
    // The holder has written its name; of a holder on another machine nothing else is available.
    std::array<char, 512> name{};
    const ssize_t length = pread(file, name.data(), name.size() - 1, 0);
    if (length > 0 && trouble.starts_with("a process that")) {
      trouble.assign(name.data(), static_cast<std::size_t>(length));
      trouble = trouble.substr(0, trouble.find('\n')) + " has it";
    }
    close(file);
    return lock;
  }
  const std::string name = this_process() + "\n";
  if (ftruncate(file, 0) != 0 || pwrite(file, name.data(), name.size(), 0) < 0) {
    // The lock is held; only its name could not be written.
  }
  lock.file_ = file;
  return lock;
}

FileLock::~FileLock() {
  if (file_ >= 0) close(file_);
}

FileLock::FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

}  // namespace rankscope
