// Reads one chunk of a file into messages: read, checked, decompressed, decoded. Any thread.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "telemetry/event/codec.hpp"
#include "telemetry/trace/trace_index.hpp"

namespace rankscope {

struct ChunkContent {
  std::vector<Message> messages;
  std::int64_t records = 0;  ///< message records seen, telemetry or not
  std::int64_t unknown = 0;  ///< of kinds unknown to this build
  std::int64_t refused = 0;
  std::int64_t rows = 0;  ///< of the messages; at most greatest_chunk_rows
  std::int64_t schemas_and_channels = 0;
  std::string trouble;  ///< empty: all of it was read
  std::string refusal;  ///< the reason for the first rejected message
};

/// A message that is not telemetry: of a scalar topic, a document, or from another program.
struct OtherMessage {
  std::uint16_t channel = 0;
  std::uint64_t log_time = 0;
  std::string data;
};

/// More rows than our writer puts into one chunk; further messages are rejected.
inline constexpr std::int64_t greatest_chunk_rows = std::int64_t{1} << 21;

class ChunkReader {
 public:
  ChunkReader();
  ~ChunkReader();
  ChunkReader(const ChunkReader&) = delete;
  ChunkReader& operator=(const ChunkReader&) = delete;
  /// Throws only std::bad_alloc: errors are reported in the content's `trouble`. Messages that are not telemetry are
  /// appended to `others`, or skipped.
  ChunkContent read(const TraceFile& file, const TracePlace& place, const DecodeLimits& limits,
                    std::vector<OtherMessage>* others = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope
