// Finds a trace's chunks: from its summary, or by scanning from record to record.
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
  bool beyond = false;                   ///< exceeds the unpacked size allowed for a file of this size: it is not read
  std::uint64_t offset = 0, length = 0;  ///< of the record with its head
  std::uint64_t data_bytes = 0;          ///< before compression, as its head or index states
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

/// Throws TraceError if it is not an MCAP file. Errors of the structure are added to `damage`.
TraceIndex index_trace(const TraceFile& file, DamageReport& damage);

/// The same without the index: from record to record, and over damage to the next chunk.
TraceIndex scan_trace(const TraceFile& file, DamageReport& damage);

/// Limits of allocation, against damaged lengths and files made to exhaust memory: the largest chunk; the largest chunk
/// that may be compressed to less than 1/256; and all chunks of a file together.
inline constexpr std::uint64_t greatest_chunk_bytes = std::uint64_t{128} << 20;
inline constexpr std::uint64_t freely_packed_bytes = std::uint64_t{8} << 20, greatest_packing = 256;
constexpr std::uint64_t greatest_data_bytes(std::uint64_t file_bytes) {
  return (std::uint64_t{64} << 20) + 100 * file_bytes;
}

/// The records of a trace's summary, checked by their checksum, and their position in the file.
struct SummaryBytes {
  std::uint64_t start = 0;
  mcap::Bytes records;
};
/// nullopt and the reason if the file has no complete one.
std::optional<SummaryBytes> summary_of(const TraceFile& file, std::string& why);

/// The marks with a correct checksum, in the order of the file.
std::vector<TraceMark> marks_in(const TraceIndex& index);

/// A value of a metadata record; null if it has no such key.
const std::string* find_value(const mcap::Metadata& metadata, std::string_view key);

}  // namespace rankscope
