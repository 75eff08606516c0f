#include "telemetry/trace/trace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "telemetry/trace/trace_error.hpp"

namespace rankscope {

TraceFile::TraceFile(std::string path) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) throw TraceError(path_ + ": " + std::strerror(errno));
  struct stat status {};
  if (::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(file_);
    throw TraceError(path_ + ": not a regular file");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

TraceFile::~TraceFile() { ::close(file_); }

mcap::Bytes TraceFile::read(std::uint64_t offset, std::uint64_t size) const {
  if (offset >= size_) return {};
  mcap::Bytes bytes(std::min(size, size_ - offset));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw TraceError(fmt::format("{}: cannot read at byte {}: {}", path_, offset, std::strerror(errno)));
    if (got == 0) break;  // it shrank
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace rankscope
