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
  std::int64_t unknown = 0;  ///< of kinds that this build does not know
  std::int64_t refused = 0;
  std::int64_t rows = 0;  ///< of the messages; greatest_chunk_rows at most
  std::int64_t schemas_and_channels = 0;
  std::string trouble;  ///< empty: all of it was read
  std::string refusal;  ///< the first refused message's reason
};

/// A message that is no telemetry: of a scalar topic, a document, or someone else's.
struct OtherMessage {
  std::uint16_t channel = 0;
  std::uint64_t log_time = 0;
  std::string data;
};

/// More than our writer puts into one; further messages are refused.
inline constexpr std::int64_t greatest_chunk_rows = std::int64_t{1} << 21;

class ChunkReader {
 public:
  ChunkReader();
  ~ChunkReader();
  ChunkReader(const ChunkReader&) = delete;
  ChunkReader& operator=(const ChunkReader&) = delete;
  /// Never throws but std::bad_alloc: what goes wrong is the content's trouble. Messages that are no telemetry are
  /// appended to `others`, or passed over.
  ChunkContent read(const TraceFile& file, const TracePlace& place, const DecodeLimits& limits,
                    std::vector<OtherMessage>* others = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope
