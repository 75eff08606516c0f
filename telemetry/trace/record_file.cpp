#include "telemetry/trace/record_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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

bool RecordFile::has_room() {
  if (!has_failed_) return true;
  constexpr std::uint64_t enough = std::uint64_t{16} << 20;
  struct statvfs disk {};
  rlimit process{};
  if (::fstatvfs(file_, &disk) != 0 || ::getrlimit(RLIMIT_FSIZE, &process) != 0) return true;
  const bool disk_has_room = std::uint64_t{disk.f_bavail} * disk.f_frsize >= enough;
  if (disk_has_room && (process.rlim_cur == RLIM_INFINITY || process.rlim_cur >= bytes_ + enough)) has_failed_ = false;
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
