// A file that grows by complete records.
#pragma once
#include <cstdint>
#include <string>

#include "telemetry/trace/mcap.hpp"

namespace rankscope {

class RecordFile {
 public:
  /// Creates the file; replaces an older one; locks it until it is closed. Throws TraceError, also for a pipe, a folder
  /// or a socket; the error names the process that records to the file, if any.
  explicit RecordFile(std::string path);
  ~RecordFile() { close(); }
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Writes all of it. If the disk cannot, the file is truncated to complete records; then the result is false, and
  /// error() has the reason.
  bool put(mcap::View records);
  /// Whether the disk, and the process's limit of a file's size, leave room for these bytes; error() then has the
  /// reason. After that, and after a failed put(), only when there is room for much more.
  bool has_room(std::uint64_t bytes);
  /// Waits until the data are on the disk. False: they are not.
  bool sync();
  /// False if anything since the file was created was not written to it.
  bool close();

  std::uint64_t bytes() const { return bytes_; }       ///< in the file
  std::uint32_t crc() const { return crc_; }           ///< of these bytes
  const std::string& error() const { return error_; }  ///< the first error; empty if there is none

 private:
  void fail(const char* doing);

  std::string path_, error_;
  int file_;
  bool has_failed_ = false;  ///< and has not had room since
  std::uint64_t bytes_ = 0;
  std::uint32_t crc_ = 0;
};

}  // namespace rankscope
