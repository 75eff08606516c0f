// A rank's spool: all its messages, on its own disk, written before they are sent. A killed process loses only its last
// messages, because every flush passes complete frames to the operating system.
//
// rank-00003.spool contains one rank's messages in sequence. With a limit on the age of detail it contains only the
// reliable ones, and detail is in rank-00003.detail-000007.spool and so on; old files are deleted.
// A file is a header of 32 bytes (magic, session, rank, segment) and frames: length, CRC-32 of the payload, payload.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "telemetry/event/codec.hpp"
#include "telemetry/event/event.hpp"

namespace rankscope {

/// The position of a frame in a rank's spool. Segment 0 is the main file, segment n > 0 the detail file of that number.
struct SpoolPosition {
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
  auto operator<=>(const SpoolPosition&) const = default;
};

std::string spool_file(const std::string& directory, int rank, std::uint32_t segment);

struct SpoolOptions {
  std::string directory;
  std::chrono::nanoseconds keep_detail{0};  ///< 0: all
};

class SpoolWriter {
 public:
  /// Opens no file yet. One thread.
  SpoolWriter(SpoolOptions options, SessionId session, int rank);
  ~SpoolWriter();
  SpoolWriter(const SpoolWriter&) = delete;
  SpoolWriter& operator=(const SpoolWriter&) = delete;

  /// Buffers a frame. nullopt: the disk cannot accept it (reason in error()) and it is missing in the spool.
  std::optional<SpoolPosition> append(std::span<const std::byte> message, bool reliable);
  /// Writes the buffered frames. False: it failed, and the frames since the last flush are missing in the spool; a
  /// failed spool is tried again after a second.
  bool flush();

  std::int64_t messages_lost() const;
  const std::string& error() const;  ///< empty without errors

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads frames of one spool file forwards, also while it is being written.
class SpoolReader {
 public:
  enum class Next {
    frame,
    end,   ///< no complete frame after this point (yet)
    torn,  ///< a frame whose checksum or length is wrong: a crash's tail, or damage
    absent
  };
  explicit SpoolReader(std::string path, std::uint64_t offset = 0);
  ~SpoolReader();
  SpoolReader(SpoolReader&&) noexcept;
  SpoolReader& operator=(SpoolReader&&) noexcept;

  /// The next frame's payload in `payload`. After `end` or `absent` it may be called again later.
  Next next(std::vector<std::byte>& payload);
  std::uint64_t offset() const;     ///< of the next frame
  void seek(std::uint64_t offset);  ///< to a frame's beginning
  SessionId session() const;        ///< of the file's header; zeros until it was read
  int rank() const;

 private:
  struct State;
  Next read(std::vector<std::byte>& payload);
  std::unique_ptr<State> state_;
};

struct SpoolReport {
  std::int64_t files = 0, messages = 0, unknown = 0, refused = 0;
  std::int64_t torn = 0;           ///< files that end within a frame
  std::vector<std::string> notes;  ///< one line for each error
};
/// Passes every message of a spool file, or of all spool files in a directory, to `sink`. Stops at a torn frame, and
/// adds a note to the report. Throws std::runtime_error if there is no spool.
SpoolReport read_spool(const std::string& path, EventSink& sink, const DecodeLimits& limits = {});
/// The spool files in a directory, in order of rank and segment.
std::vector<std::string> spool_files(const std::string& directory);

}  // namespace rankscope
