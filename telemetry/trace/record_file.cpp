#include "telemetry/trace/record_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "engine/base/host/file_lock.hpp"
#include "telemetry/event/crc32.hpp"
#include "telemetry/trace/output_file.hpp"
#include "telemetry/trace/trace_error.hpp"

namespace rankscope {

RecordFile::RecordFile(std::string path) : path_(std::move(path)) {
  check_output(path_, {});
  // Opens without blocking: a pipe without a reader fails at once. It is truncated only after the check that it is an
  // ordinary file.
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0644);
  struct stat status {};
  if ((file_ < 0 && errno == ENXIO) || (file_ >= 0 && ::fstat(file_, &status) == 0 && S_ISFIFO(status.st_mode))) {
    if (file_ >= 0) ::close(file_);
    throw TraceError(path_ + ": is a pipe, and a recording needs a file that can be read again; name an ordinary file");
  }
  if (file_ < 0) throw TraceError(path_ + ": cannot create: " + std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return;  // a device has no content to keep
  std::string refusal;
  if (const auto holder = lock_open_file(file_, path_))
    refusal = "it is being recorded: " + *holder + "; choose another file";
  else if (::ftruncate(file_, 0) != 0)
    refusal = std::string("cannot be emptied: ") + std::strerror(errno);
  if (refusal.empty()) return;
  ::close(file_);
  throw TraceError(path_ + ": " + refusal);
}

void RecordFile::fail(const char* doing) {
  if (error_.empty()) error_ = path_ + ": " + doing + ": " + std::strerror(errno);
}

bool RecordFile::put(mcap::View records) {
  std::size_t done = 0;
  while (done < records.size()) {
    const ssize_t written = ::write(file_, records.data() + done, records.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      fail("cannot write");
      has_failed_ = true;
      if (::ftruncate(file_, static_cast<off_t>(bytes_)) != 0 ||
          ::lseek(file_, static_cast<off_t>(bytes_), SEEK_SET) < 0)
        fail("cannot cut back");
      return false;
    }
    done += static_cast<std::size_t>(written);
  }
  bytes_ += records.size();
  crc_ = crc32(records, crc_);
  return true;
}

bool RecordFile::has_room(std::uint64_t bytes) {
  constexpr std::uint64_t enough = std::uint64_t{16} << 20, any = std::numeric_limits<std::uint64_t>::max();
  struct statvfs disk {};
  rlimit process{};
  if (::fstatvfs(file_, &disk) != 0 || ::getrlimit(RLIMIT_FSIZE, &process) != 0) return true;
  const std::uint64_t blocks = ::geteuid() == 0 ? disk.f_bfree : disk.f_bavail;
  const std::uint64_t on_disk = disk.f_blocks == 0 ? any : blocks * disk.f_frsize;
  const std::uint64_t allowed =
      process.rlim_cur == RLIM_INFINITY ? any : process.rlim_cur - std::min<std::uint64_t>(process.rlim_cur, bytes_);
  const std::uint64_t needed = has_failed_ ? enough : bytes;
  const bool has_been_full = has_failed_;
  has_failed_ = on_disk < needed || allowed < needed;
  if (has_failed_ && !has_been_full) {
    errno = allowed < needed ? EFBIG : ENOSPC;
    fail("cannot write");
  }
  return !has_failed_;
}

bool RecordFile::sync() {
  if (::fsync(file_) != 0 && errno != EINVAL) fail("cannot be brought to the disk");
  return error_.empty();
}

bool RecordFile::close() {
  if (file_ >= 0 && ::close(file_) != 0) fail("cannot close");
  file_ = -1;
  return error_.empty();
}

}  // namespace rankscope
