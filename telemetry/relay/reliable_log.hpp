// The relay's log: every control message and summary of the session, in order of arrival. A viewer reads it: its
// content when a viewer joins is the viewer's snapshot, later messages are its updates.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

class ReliableLog {
 public:
  /// Messages beyond `memory_bytes` are stored in an unnamed file, or in memory if no file can be created.
  explicit ReliableLog(std::size_t memory_bytes = std::size_t{64} << 20);
  ~ReliableLog();
  ReliableLog(const ReliableLog&) = delete;
  ReliableLog& operator=(const ReliableLog&) = delete;

  void append(std::span<const std::byte> message);
  std::uint64_t size() const { return entries_.size(); }
  /// Message `index` < size(); valid until the next call of either function.
  std::span<const std::byte> at(std::uint64_t index);

 private:
  struct Entry {
    std::uint64_t offset;
    std::uint32_t bytes;
    bool in_file;
  };
  bool append_to_file(std::span<const std::byte> message);

  const std::size_t memory_bytes_;
  std::vector<std::byte> memory_;
  std::vector<Entry> entries_;
  std::vector<std::byte> read_;
  int file_ = -1;
  bool file_failed_ = false;
  std::uint64_t file_bytes_ = 0;
};

}  // namespace rankscope
