// A trace's bytes, read at offsets by several threads. Not memory-mapped: a file that shrinks while it is read must
// cause an error, not a signal.
#pragma once
#include <cstdint>
#include <string>

#include "telemetry/trace/mcap.hpp"

namespace rankscope {

class TraceFile {
 public:
  /// Throws TraceError.
  explicit TraceFile(std::string path);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Up to `size` bytes from `offset`: fewer at the file's end. Throws TraceError if the disk fails.
  mcap::Bytes read(std::uint64_t offset, std::uint64_t size) const;

 private:
  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace rankscope
