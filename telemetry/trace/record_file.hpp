// A file that grows by whole records.
#pragma once
#include <cstdint>
#include <string>

#include "telemetry/trace/mcap.hpp"

namespace rankscope {

class RecordFile {
 public:
  /// Creates the file, in place of an older one, and locks it until it is closed. Throws TraceError, also for a pipe, a
  /// folder or a socket; it names the process that records to the file, if there is one.
  explicit RecordFile(std::string path);
  ~RecordFile() { close(); }
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Writes all of it. If the disk cannot, the file is cut back to complete records; then the result is false, and
  /// error() has the reason.
  bool put(mcap::View records);
  /// Waits until the data are on the disk. False: they are not.
  bool sync();
  /// False when anything since the file was made did not reach it.
  bool close();

  std::uint64_t bytes() const { return bytes_; }       ///< that are in the file
  std::uint32_t crc() const { return crc_; }           ///< of those
  const std::string& error() const { return error_; }  ///< the first one; empty while all is well

 private:
  void fail(const char* doing);

  std::string path_, error_;
  int file_;
  std::uint64_t bytes_ = 0;
  std::uint32_t crc_ = 0;
};

}  // namespace rankscope
