#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <deque>

#include "telemetry/event/crc32.hpp"
#include "telemetry/stream/spool.hpp"
#include "telemetry/stream/spool_format.hpp"

namespace rankscope {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto retry_after = std::chrono::seconds(1);
constexpr int segments_per_window = 4;  // detail is deleted in quarters of the time that is kept

// One append-only file with a buffer. The buffer is written completely or not at all.
class File {
 public:
  File(std::string path, spool_format::Header header) : path_(std::move(path)), header_(header) {}
  ~File() {
    if (file_ >= 0) close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::uint64_t next_offset() const {
    return std::max<std::uint64_t>(size_, spool_format::header_bytes) + buffer_.size();
  }

  void append(std::span<const std::byte> message) {
    const std::size_t at = buffer_.size();
    buffer_.resize(at + spool_format::frame_header_bytes + message.size());
    spool_format::put(buffer_.data() + at, static_cast<std::uint32_t>(message.size()));
    spool_format::put(buffer_.data() + at + 4, crc32(message));
    std::memcpy(buffer_.data() + at + spool_format::frame_header_bytes, message.data(), message.size());
    ++buffered_;
  }

  // The number of messages that were lost; `error` contains the reason.
  std::int64_t flush(std::string& error) {
    if (buffer_.empty()) return 0;
    const bool written = open_file() && write_all(buffer_);
    if (!written) error = path_ + ": " + std::strerror(errno);
    const std::int64_t lost = written ? 0 : buffered_;
    buffer_.clear();
    buffered_ = 0;
    return lost;
  }

  const std::string& path() const { return path_; }

 private:
  bool open_file() {
    if (file_ < 0) {
      file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      size_ = 0;
    }
    if (file_ < 0) return false;
    if (size_ >= spool_format::header_bytes) return true;
    const auto header = spool_format::pack(header_);
    return write_all(header);
  }

  bool write_all(std::span<const std::byte> bytes) {
    const std::uint64_t begin = size_;
    while (!bytes.empty()) {
      const ssize_t count = write(file_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        const int why = errno;
        // An incomplete frame in the middle would make everything after it unreadable.
        if (size_ != begin && ftruncate(file_, static_cast<off_t>(begin)) == 0 &&
            lseek(file_, static_cast<off_t>(begin), SEEK_SET) >= 0)
          size_ = begin;
        errno = why;
        return false;
      }
      size_ += static_cast<std::uint64_t>(count);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return true;
  }

  std::string path_;
  spool_format::Header header_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  std::vector<std::byte> buffer_;
  std::int64_t buffered_ = 0;
};

}  // namespace

std::string spool_file(const std::string& directory, int rank, std::uint32_t segment) {
  char name[64];
  if (segment == 0)
    std::snprintf(name, sizeof name, "rank-%05d.spool", rank);
  else
    std::snprintf(name, sizeof name, "rank-%05d.detail-%06u.spool", rank, segment);
  return directory + "/" + name;
}

struct SpoolWriter::State {
  SpoolOptions options;
  SessionId session;
  int rank;
  std::unique_ptr<File> main, detail;
  std::uint32_t segment = 0;
  Clock::time_point segment_begin{}, failed_at{};
  struct Closed {
    std::string path;
    Clock::time_point end;
  };
  std::deque<Closed> closed;
  std::int64_t lost = 0;
  std::string error;

  void rotate() {
    const auto now = Clock::now();
    if (detail && now - segment_begin < options.keep_detail / segments_per_window) return;
    if (detail) {
      lost += detail->flush(error);
      closed.push_back({detail->path(), now});
    }
    while (!closed.empty() && now - closed.front().end > options.keep_detail) {
      unlink(closed.front().path.c_str());
      closed.pop_front();
    }
    ++segment;
    segment_begin = now;
    detail = std::make_unique<File>(spool_file(options.directory, rank, segment),
                                    spool_format::Header{session, rank, segment});
  }
};

SpoolWriter::SpoolWriter(SpoolOptions options, SessionId session, int rank)
    : state_(std::make_unique<State>(State{std::move(options), session, rank, {}, {}, 0, {}, {}, {}, 0, {}})) {
  state_->main =
      std::make_unique<File>(spool_file(state_->options.directory, rank, 0), spool_format::Header{session, rank, 0});
}

SpoolWriter::~SpoolWriter() { flush(); }

std::optional<SpoolPosition> SpoolWriter::append(std::span<const std::byte> message, bool reliable) {
  State& s = *state_;
  if (!s.error.empty() && Clock::now() - s.failed_at < retry_after) {
    ++s.lost;
    return std::nullopt;
  }
  const bool to_main = reliable || s.options.keep_detail.count() == 0;
  if (!to_main) s.rotate();
  File& file = to_main ? *s.main : *s.detail;
  const SpoolPosition position{to_main ? 0 : s.segment, file.next_offset()};
  file.append(message);
  return position;
}

bool SpoolWriter::flush() {
  State& s = *state_;
  std::string error;
  std::int64_t lost = s.main->flush(error);
  if (s.detail) lost += s.detail->flush(error);
  s.lost += lost;
  if (lost > 0) {
    s.error = error;
    s.failed_at = Clock::now();
    return false;
  }
  if (Clock::now() - s.failed_at >= retry_after) s.error.clear();
  return true;
}

std::int64_t SpoolWriter::messages_lost() const { return state_->lost; }
const std::string& SpoolWriter::error() const { return state_->error; }

}  // namespace rankscope
