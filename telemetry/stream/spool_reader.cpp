#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <stdexcept>

#include "telemetry/event/crc32.hpp"
#include "telemetry/stream/spool.hpp"
#include "telemetry/stream/spool_format.hpp"

namespace rankscope {

struct SpoolReader::State {
  std::string path;
  std::uint64_t offset = 0;  // of the next frame
  int file = -1;
  spool_format::Header header;
  std::vector<std::byte> buffer;  // the bytes of the file from buffer_at on
  std::uint64_t buffer_at = 0;

  ~State() {
    if (file >= 0) close(file);
  }

  // `count` bytes of the file from `at` on; null if the file ends before.
  const std::byte* bytes(std::uint64_t at, std::size_t count) {
    if (at >= buffer_at && at + count <= buffer_at + buffer.size()) return buffer.data() + (at - buffer_at);
    constexpr std::size_t chunk = std::size_t{256} << 10;
    struct stat info {};
    if (fstat(file, &info) != 0 || static_cast<std::uint64_t>(info.st_size) < at + count) return nullptr;
    const std::uint64_t left = static_cast<std::uint64_t>(info.st_size) - at;
    buffer.resize(std::max(count, static_cast<std::size_t>(std::min<std::uint64_t>(chunk, left))));
    buffer_at = at;
    std::size_t have = 0;
    while (have < buffer.size()) {
      const ssize_t got = pread(file, buffer.data() + have, buffer.size() - have, static_cast<off_t>(at + have));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    buffer.resize(have);
    return have >= count ? buffer.data() : nullptr;
  }

  bool open_file() {
    if (file < 0) file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    return file >= 0;
  }
};

SpoolReader::SpoolReader(std::string path, std::uint64_t offset) : state_(std::make_unique<State>()) {
  state_->path = std::move(path);
  state_->offset = offset;
}
SpoolReader::~SpoolReader() = default;
SpoolReader::SpoolReader(SpoolReader&&) noexcept = default;
SpoolReader& SpoolReader::operator=(SpoolReader&&) noexcept = default;

SpoolReader::Next SpoolReader::next(std::vector<std::byte>& payload) {
  const Next result = read(payload);
  // The writer may still append, or truncate what it could not finish: read the file again next time.
  if (result != Next::frame) state_->buffer.clear();
  return result;
}

SpoolReader::Next SpoolReader::read(std::vector<std::byte>& payload) {
  State& s = *state_;
  if (!s.open_file()) return Next::absent;
  if (s.offset < spool_format::header_bytes) {
    const std::byte* header = s.bytes(0, spool_format::header_bytes);
    if (!header) return Next::end;
    if (!spool_format::unpack(header, s.header)) return Next::torn;
    s.offset = spool_format::header_bytes;
  }
  const std::byte* head = s.bytes(s.offset, spool_format::frame_header_bytes);
  if (!head) return Next::end;
  const auto length = spool_format::get<std::uint32_t>(head), sum = spool_format::get<std::uint32_t>(head + 4);
  if (length == 0 || length > spool_format::longest_frame) return Next::torn;
  const std::byte* frame = s.bytes(s.offset, spool_format::frame_header_bytes + length);
  if (!frame) return Next::end;
  const std::span<const std::byte> body(frame + spool_format::frame_header_bytes, length);
  if (crc32(body) != sum) return Next::torn;
  payload.assign(body.begin(), body.end());
  s.offset += spool_format::frame_header_bytes + length;
  return Next::frame;
}

std::uint64_t SpoolReader::offset() const {
  return std::max<std::uint64_t>(state_->offset, spool_format::header_bytes);
}
void SpoolReader::seek(std::uint64_t offset) { state_->offset = offset; }
SessionId SpoolReader::session() const { return state_->header.session; }
int SpoolReader::rank() const { return state_->header.rank; }

std::vector<std::string> spool_files(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (entry.path().extension() == ".spool") files.push_back(entry.path().string());
  // '.' sorts "rank-00003.spool" after its detail files; the main file must be first, since it contains control.
  const auto key = [](const std::string& path) {
    const std::string name = std::filesystem::path(path).filename().string();
    const auto dot = name.find('.');
    return std::pair(name.substr(0, dot), name.substr(dot) == ".spool" ? std::string() : name);
  };
  std::sort(files.begin(), files.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return files;
}

SpoolReport read_spool(const std::string& path, EventSink& sink, const DecodeLimits& limits) {
  std::vector<std::string> files{path};
  if (std::filesystem::is_directory(path)) files = spool_files(path);
  if (files.empty()) throw std::runtime_error(path + ": no spool files (rank-*.spool) here");
  SpoolReport report;
  for (const std::string& file : files) {
    SpoolReader reader(file);
    std::vector<std::byte> payload;
    ++report.files;
    for (;;) {
      const SpoolReader::Next next = reader.next(payload);
      if (next == SpoolReader::Next::frame) {
        const Decoded decoded = decode(payload, limits);
        if (decoded) {
          ++report.messages;
          sink.accept(decoded.message);
        } else if (decoded.outcome == Decoded::Outcome::unknown) {
          ++report.unknown;
        } else {
          ++report.refused;
          report.notes.push_back(
              fmt::format("{}: a message before byte {} is refused: {}", file, reader.offset(), decoded.error));
        }
        continue;
      }
      if (next == SpoolReader::Next::absent) {
        if (files.size() == 1) throw std::runtime_error(file + ": " + std::strerror(errno));
        break;  // an old segment that its writer has deleted since
      }
      std::error_code error;
      const auto size = std::filesystem::file_size(file, error);
      if (next == SpoolReader::Next::torn || (!error && size != 0 && size != reader.offset())) {
        ++report.torn;
        report.notes.push_back(
            fmt::format("{}: torn at byte {} of {}; what follows is lost", file, reader.offset(), size));
      }
      break;
    }
  }
  return report;
}

}  // namespace rankscope
