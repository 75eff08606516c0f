// MCAP's records as structs, and their bytes (https://mcap.dev/spec): only what a trace uses.
//
// A file is: magic, header, data section (schemas, channels, chunks each with its message indexes, metadata), data end,
// summary (the same schemas and channels, chunk and metadata indexes, statistics), footer, magic. All little-endian.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
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
inline constexpr std::size_t message_head = 22;  ///< of a message record's content, up to its data

using StringMap = std::vector<std::pair<std::string, std::string>>;

// `fields`: the fields of a record in their order, for writing or reading.
struct Schema {
  std::uint16_t id = 0;
  std::string name, encoding;
  Bytes data;
  static constexpr Op op = Op::schema;
  static auto fields(auto& s) { return std::tie(s.id, s.name, s.encoding, s.data); }
};
struct Channel {
  std::uint16_t id = 0, schema = 0;
  std::string topic, encoding;
  StringMap metadata;
  static constexpr Op op = Op::channel;
  static auto fields(auto& s) { return std::tie(s.id, s.schema, s.topic, s.encoding, s.metadata); }
};
struct Chunk {  ///< without its records
  std::uint64_t first_time = 0, last_time = 0, uncompressed_bytes = 0;
  std::uint32_t uncompressed_crc = 0;
  std::string compression;
  static auto fields(auto& s) {
    return std::tie(s.first_time, s.last_time, s.uncompressed_bytes, s.uncompressed_crc, s.compression);
  }
};
struct ChunkIndex {
  std::uint64_t first_time = 0, last_time = 0, offset = 0, length = 0;
  std::map<std::uint16_t, std::uint64_t> message_index_offsets;
  std::uint64_t message_index_bytes = 0;
  std::string compression;
  std::uint64_t compressed_bytes = 0, uncompressed_bytes = 0;
  static constexpr Op op = Op::chunk_index;
  static auto fields(auto& s) {
    return std::tie(s.first_time, s.last_time, s.offset, s.length, s.message_index_offsets, s.message_index_bytes,
                    s.compression, s.compressed_bytes, s.uncompressed_bytes);
  }
};
struct Metadata {
  std::string name;
  StringMap values;
  static constexpr Op op = Op::metadata;
  static auto fields(auto& s) { return std::tie(s.name, s.values); }
};
struct MetadataIndex {
  std::uint64_t offset = 0, length = 0;
  std::string name;
  static constexpr Op op = Op::metadata_index;
  static auto fields(auto& s) { return std::tie(s.offset, s.length, s.name); }
};
struct Statistics {
  std::uint64_t messages = 0;
  std::uint16_t schemas = 0;
  std::uint32_t channels = 0, attachments = 0, metadata = 0, chunks = 0;
  std::uint64_t first_time = 0, last_time = 0;
  std::map<std::uint16_t, std::uint64_t> channel_messages;
  static constexpr Op op = Op::statistics;
  static auto fields(auto& s) {
    return std::tie(s.messages, s.schemas, s.channels, s.attachments, s.metadata, s.chunks, s.first_time, s.last_time,
                    s.channel_messages);
  }
};
struct Footer {
  std::uint64_t summary_start = 0, summary_offset_start = 0;
  std::uint32_t summary_crc = 0;
  static constexpr Op op = Op::footer;
  static auto fields(auto& s) { return std::tie(s.summary_start, s.summary_offset_start, s.summary_crc); }
};

/// Of the messages of one channel in a chunk: log times, and their offsets in it.
using MessageIndex = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Appends values.
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
  void field(View value) { bytes(value); }  ///< without its length
  void field(std::integral auto value) { number(value); }
  void field(std::string_view value) { text(value); }
  void field(const Bytes& value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes(value);
  }
  void field(const StringMap& values);
  void field(const std::map<std::uint16_t, std::uint64_t>& values);
  void field(const MessageIndex& entries);

 private:
  void raw(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), first, first + size);
  }
  Bytes& out_;
};

template <class... Fields>
void write_record(Bytes& out, Op op, const Fields&... fields) {
  Writer writer(out);
  writer.number(static_cast<std::uint8_t>(op));
  writer.number(std::uint64_t{0});
  const std::size_t begin = out.size();
  (writer.field(fields), ...);
  const std::uint64_t length = out.size() - begin;
  std::memcpy(out.data() + begin - sizeof length, &length, sizeof length);
}
template <class Record>
void write(Bytes& out, const Record& record) {
  std::apply([&out](const auto&... fields) { write_record(out, Record::op, fields...); }, Record::fields(record));
}
/// A message, with its log time as the time of its publication.
void write_message(Bytes& out, std::uint16_t channel, std::uint32_t sequence, std::uint64_t time, View data);
/// `records` are described by `chunk`, and compressed as it states.
void write_chunk(Bytes& out, const Chunk& chunk, View records);
void write_header(Bytes& out, std::string_view profile, std::string_view library);
/// The footer, with the checksum of the summary that `out` contains so far, and the magic bytes after it. The arguments
/// are the positions in the file of the summary and of its offsets (0: it has none).
void write_end(Bytes& out, std::uint64_t summary_start, std::uint64_t offsets_start);
/// The end of the data section, with the checksum of the file before it.
void write_data_end(Bytes& out, std::uint32_t crc);
/// The position in the file of the summary's records of one kind.
void write_summary_offset(Bytes& out, Op op, std::uint64_t begin, std::uint64_t length);

/// Reads values from the front; once a value is missing, ok() stays false and all values are zero or empty.
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
  void field(std::integral auto& value) { value = number<std::remove_reference_t<decltype(value)>>(); }
  void field(std::string& value) { value = text(); }
  void field(Bytes& value) {
    const View data = take(number<std::uint32_t>());
    value.assign(data.begin(), data.end());
  }
  void field(StringMap& values);
  void field(std::map<std::uint16_t, std::uint64_t>& values);
  View rest() const { return rest_; }
  bool ok() const { return ok_; }
  static std::string as_text(View bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

 private:
  View rest_;
  bool ok_ = true;
};

/// From a record's content; nullopt if it is too short.
template <class Record>
std::optional<Record> read(View content) {
  Reader reader(content);
  Record record;
  std::apply([&reader](auto&... fields) { (reader.field(fields), ...); }, Record::fields(record));
  return reader.ok() ? std::optional<Record>(std::move(record)) : std::nullopt;
}
/// `content` may be cut off after the head. `records_bytes` is the stated length of the compressed records, which begin
/// at `records_at` within the content.
struct ChunkHead {
  Chunk chunk;
  std::uint64_t records_bytes = 0;
  std::size_t records_at = 0;
};
std::optional<ChunkHead> read_chunk_head(View content);

}  // namespace rankscope::mcap
