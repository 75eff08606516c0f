// A file that grows by whole records.
#pragma once
#include <cstdint>
#include <string>

#include "telemetry/trace/mcap.hpp"

namespace rankscope {

class RecordFile {
 public:
  /// Creates the file, in place of an older one, and locks it until it is closed. Throws TraceError, also for a pipe, a
  /// folder or a socket; it names who records to the file where somebody does.
  explicit RecordFile(std::string path);
  ~RecordFile() { close(); }
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  /// Writes all of it or, where the disk cannot, nothing that counts: the file is cut back to whole records. False: it
  /// could not, and error() says why.
  bool put(mcap::View records);
  /// Waits until the disk has it. False: it does not.
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
