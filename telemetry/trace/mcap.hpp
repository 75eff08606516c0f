// MCAP's records as structs, and their bytes (https://mcap.dev/spec): only what a trace uses.
//
// A file is: magic, header, data section (schemas, channels, chunks each with its message indexes, metadata), data end,
// summary (the same schemas and channels, chunk and metadata indexes, statistics), footer, magic. All little-endian.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope::mcap {

using Bytes = std::vector<std::byte>;
using View = std::span<const std::byte>;

inline constexpr std::array<std::uint8_t, 8> magic{0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

enum class Op : std::uint8_t {
  header = 1,
  footer,
  schema,
  channel,
  message,
  chunk,
  message_index,
  chunk_index,
  attachment,
  attachment_index,
  statistics,
  metadata,
  metadata_index,
  summary_offset,
  data_end
};
inline constexpr std::uint8_t greatest_op = 15;
inline constexpr std::size_t record_head = 9;  ///< op and length
inline constexpr std::size_t footer_bytes = 20;
inline constexpr std::size_t message_head = 22;  ///< of a message record's content, before its data

using StringMap = std::vector<std::pair<std::string, std::string>>;

struct Schema {
  std::uint16_t id = 0;
  std::string name, encoding;
  Bytes data;
};
struct Channel {
  std::uint16_t id = 0, schema = 0;
  std::string topic, encoding;
  StringMap metadata;
};
struct Chunk {  ///< without its records
  std::uint64_t first_time = 0, last_time = 0, uncompressed_bytes = 0;
  std::uint32_t uncompressed_crc = 0;
  std::string compression;
};
struct ChunkIndex {
  std::uint64_t first_time = 0, last_time = 0, offset = 0, length = 0;
  std::map<std::uint16_t, std::uint64_t> message_index_offsets;
  std::uint64_t message_index_bytes = 0;
  std::string compression;
  std::uint64_t compressed_bytes = 0, uncompressed_bytes = 0;
};
struct Metadata {
  std::string name;
  StringMap values;
};
struct MetadataIndex {
  std::uint64_t offset = 0, length = 0;
  std::string name;
};
struct Statistics {
  std::uint64_t messages = 0;
  std::uint16_t schemas = 0;
  std::uint32_t channels = 0, attachments = 0, metadata = 0, chunks = 0;
  std::uint64_t first_time = 0, last_time = 0;
  std::map<std::uint16_t, std::uint64_t> channel_messages;
};
struct Footer {
  std::uint64_t summary_start = 0, summary_offset_start = 0;
  std::uint32_t summary_crc = 0;
};

/// Appends values; record() closes over op and length.
class Writer {
 public:
  explicit Writer(Bytes& out) : out_(out) {}
  template <class T>
  void number(T value) {
    raw(&value, sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    raw(value.data(), value.size());
  }
  void bytes(View value) { raw(value.data(), value.size()); }
  void map(const StringMap& values);
  void map(const std::map<std::uint16_t, std::uint64_t>& values);
  /// Begins a record; end_record(mark) writes its length.
  std::size_t begin_record(Op op);
  void end_record(std::size_t mark);

 private:
  void raw(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), first, first + size);
  }
  Bytes& out_;
};

void write_header(Bytes& out, std::string_view profile, std::string_view library);
void write(Bytes& out, const Schema& schema);
void write(Bytes& out, const Channel& channel);
void write(Bytes& out, const Metadata& metadata);
void write(Bytes& out, const ChunkIndex& index);
/// The footer, with the checksum of the summary that `out` is so far, and the magic bytes behind it. Where the summary
/// begins in the file, and where its offsets do (0: it has none).
void write_end(Bytes& out, std::uint64_t summary_start, std::uint64_t offsets_start);
void write(Bytes& out, const MetadataIndex& index);
/// The end of the data section, with the checksum of the file before it.
void write_data_end(Bytes& out, std::uint32_t crc);
/// Where the summary's records of one kind lie in the file.
void write_summary_offset(Bytes& out, Op op, std::uint64_t begin, std::uint64_t length);
void write(Bytes& out, const Statistics& statistics);

/// Takes values off the front; once something is missing, ok() stays false and all values are zero or empty.
class Reader {
 public:
  explicit Reader(View bytes) : rest_(bytes) {}
  template <class T>
  T number() {
    T value{};
    const View raw = take(sizeof value);
    if (ok_) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  std::string text() { return as_text(take(number<std::uint32_t>())); }
  View take(std::uint64_t count) {
    if (count > rest_.size()) ok_ = false;
    if (!ok_) return {};
    const View taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  StringMap string_map();
  std::map<std::uint16_t, std::uint64_t> number_map();
  View rest() const { return rest_; }
  bool ok() const { return ok_; }
  static std::string as_text(View bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

 private:
  View rest_;
  bool ok_ = true;
};

/// From a record's content; nullopt where it is too short.
std::optional<Schema> read_schema(View content);
std::optional<Channel> read_channel(View content);
std::optional<Metadata> read_metadata(View content);
std::optional<ChunkIndex> read_chunk_index(View content);
std::optional<Statistics> read_statistics(View content);
std::optional<MetadataIndex> read_metadata_index(View content);
std::optional<Footer> read_footer(View content);
/// `content` may be cut off behind the head. `records_bytes` is what the record says of its compressed records, which
/// begin at `records_at` within the content.
struct ChunkHead {
  Chunk chunk;
  std::uint64_t records_bytes = 0;
  std::size_t records_at = 0;
};
std::optional<ChunkHead> read_chunk_head(View content);

}  // namespace rankscope::mcap
