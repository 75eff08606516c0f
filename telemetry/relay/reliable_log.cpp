#include "telemetry/relay/reliable_log.hpp"

#include <unistd.h>

#include <filesystem>
#include <string>

namespace rankscope {
namespace {

int nameless_file() {
  std::error_code error;
  std::string path = std::filesystem::temp_directory_path(error).string() + "/rankscope-log-XXXXXX";
  const int file = mkstemp(path.data());
  if (file >= 0) unlink(path.c_str());
  return file;
}

bool whole(ssize_t count, std::size_t requested) { return count >= 0 && static_cast<std::size_t>(count) == requested; }

}  // namespace

ReliableLog::ReliableLog(std::size_t memory_bytes) : memory_bytes_(memory_bytes) {}
ReliableLog::~ReliableLog() {
  if (file_ >= 0) close(file_);
}

bool ReliableLog::append_to_file(std::span<const std::byte> message) {
  if (file_failed_) return false;
  if (file_ < 0) file_ = nameless_file();
  file_failed_ = file_ < 0 ||
                 !whole(pwrite(file_, message.data(), message.size(), static_cast<off_t>(file_bytes_)), message.size());
  return !file_failed_;
}

void ReliableLog::append(std::span<const std::byte> message) {
  const auto bytes = static_cast<std::uint32_t>(message.size());
  if (memory_.size() + message.size() > memory_bytes_ && append_to_file(message)) {
    entries_.push_back({file_bytes_, bytes, true});
    file_bytes_ += bytes;
    return;
  }
  entries_.push_back({memory_.size(), bytes, false});
  memory_.insert(memory_.end(), message.begin(), message.end());
}

std::span<const std::byte> ReliableLog::at(std::uint64_t index) {
  const Entry& entry = entries_[index];
  if (!entry.in_file) return std::span(memory_).subspan(entry.offset, entry.bytes);
  read_.resize(entry.bytes);
  // A message that cannot be read back is sent empty, and the viewer counts it as garbage.
  if (!whole(pread(file_, read_.data(), read_.size(), static_cast<off_t>(entry.offset)), read_.size())) read_.clear();
  return read_;
}

}  // namespace rankscope
