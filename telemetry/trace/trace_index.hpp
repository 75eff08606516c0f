// Finds a trace's chunks: from its summary, or by walking from record to record.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/trace/mcap.hpp"
#include "telemetry/trace/trace_file.hpp"
#include "telemetry/trace/trace_reader.hpp"

namespace rankscope {

struct TracePlace {
  enum class Kind : std::uint8_t { chunk, message } kind = Kind::chunk;
  bool cut = false;                      ///< the file ends within it
  bool beyond = false;                   ///< of what a file of this size may unpack to: it is not read
  std::uint64_t offset = 0, length = 0;  ///< of the record with its head
  std::uint64_t data_bytes = 0;          ///< before compression, as its head or index says
  std::int64_t messages = -1;            ///< from the message indexes; -1 unknown
  std::uint64_t first_time = 0, last_time = 0;
};

struct TraceIndex {
  std::string library;
  std::map<std::uint16_t, mcap::Schema> schemas;
  std::map<std::uint16_t, mcap::Channel> channels;
  std::map<std::uint16_t, std::int64_t> channel_messages;
  std::vector<mcap::Metadata> metadata;
  std::uint64_t session_metadata_at = 0;  ///< byte of the session's; 0: not found
  std::vector<TracePlace> places;         ///< by offset
};

/// Throws TraceError when this is no MCAP file. What is wrong with the structure goes to `damage`.
TraceIndex index_trace(const TraceFile& file, DamageReport& damage);

/// The same without its index: from record to record, and past damage to the next chunk.
TraceIndex scan_trace(const TraceFile& file, DamageReport& damage);

/// Limits of allocation, against damaged lengths and files that are made to exhaust memory: the largest chunk; the
/// largest chunk that may be compressed to less than 1/256; and all chunks of a file together.
inline constexpr std::uint64_t greatest_chunk_bytes = std::uint64_t{128} << 20;
inline constexpr std::uint64_t freely_packed_bytes = std::uint64_t{8} << 20, greatest_packing = 256;
constexpr std::uint64_t greatest_data_bytes(std::uint64_t file_bytes) {
  return (std::uint64_t{64} << 20) + 100 * file_bytes;
}

/// The records of a trace's summary, checked by their checksum, and where they begin in the file.
struct SummaryBytes {
  std::uint64_t start = 0;
  mcap::Bytes records;
};
/// Nullopt where the file has none that is whole, and why.
std::optional<SummaryBytes> summary_of(const TraceFile& file, std::string& why);

/// The marks that are as they were written, in the order of the file.
std::vector<TraceMark> marks_in(const TraceIndex& index);

/// A value of a metadata record; null where it has no such key.
const std::string* find_value(const mcap::Metadata& metadata, std::string_view key);

}  // namespace rankscope
