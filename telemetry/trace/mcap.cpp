#include "telemetry/trace/mcap.hpp"

#include <bit>
#include <cstring>
#include <span>

#include "telemetry/event/crc32.hpp"

namespace rankscope::mcap {

static_assert(std::endian::native == std::endian::little, "records are copied as they lie in memory");

std::size_t Writer::begin_record(Op op) {
  number(static_cast<std::uint8_t>(op));
  number(std::uint64_t{0});
  return out_.size();
}

void Writer::end_record(std::size_t mark) {
  const std::uint64_t length = out_.size() - mark;
  std::memcpy(out_.data() + mark - sizeof length, &length, sizeof length);
}

void Writer::map(const StringMap& values) {
  Bytes entries;
  Writer writer(entries);
  for (const auto& [key, value] : values) {
    writer.text(key);
    writer.text(value);
  }
  number(static_cast<std::uint32_t>(entries.size()));
  bytes(entries);
}

void Writer::map(const std::map<std::uint16_t, std::uint64_t>& values) {
  number(static_cast<std::uint32_t>(values.size() * 10));
  for (const auto& [key, value] : values) {
    number(key);
    number(value);
  }
}

void write_end(Bytes& out, std::uint64_t summary_start, std::uint64_t offsets_start) {
  Writer writer(out);
  const std::size_t mark = writer.begin_record(Op::footer);
  writer.number(summary_start);
  writer.number(offsets_start);
  writer.number(std::uint32_t{0});
  writer.end_record(mark);
  const std::uint32_t checksum = crc32(View(out).first(out.size() - sizeof(std::uint32_t)));
  std::memcpy(out.data() + out.size() - sizeof checksum, &checksum, sizeof checksum);
  writer.bytes(std::as_bytes(std::span(magic)));
}

void write_header(Bytes& out, std::string_view profile, std::string_view library) {
  Writer writer(out);
  const std::size_t mark = writer.begin_record(Op::header);
  writer.text(profile);
  writer.text(library);
  writer.end_record(mark);
}

void write(Bytes& out, const Schema& schema) {
  Writer writer(out);
  const std::size_t mark = writer.begin_record(Op::schema);
  writer.number(schema.id);
  writer.text(schema.name);
  writer.text(schema.encoding);
  writer.number(static_cast<std::uint32_t>(schema.data.size()));
  writer.bytes(schema.data);
  writer.end_record(mark);
}

void write(Bytes& out, const Channel& channel) {
  Writer writer(out);
  const std::size_t mark = writer.begin_record(Op::channel);
  writer.number(channel.id);
  writer.number(channel.schema);
  writer.text(channel.topic);
  writer.text(channel.encoding);
  writer.map(channel.metadata);
  writer.end_record(mark);
}

void write(Bytes& out, const Metadata& metadata) {
  Writer writer(out);
  const std::size_t mark = writer.begin_record(Op::metadata);
  writer.text(metadata.name);
  writer.map(metadata.values);
  writer.end_record(mark);
}

void write(Bytes& out, const ChunkIndex& index) {
  Writer writer(out);
  const std::size_t mark = writer.begin_record(Op::chunk_index);
  writer.number(index.first_time);
  writer.number(index.last_time);
  writer.number(index.offset);
  writer.number(index.length);
  writer.map(index.message_index_offsets);
  writer.number(index.message_index_bytes);
  writer.text(index.compression);
  writer.number(index.compressed_bytes);
  writer.number(index.uncompressed_bytes);
  writer.end_record(mark);
}

void write(Bytes& out, const MetadataIndex& index) {
  Writer writer(out);
  const std::size_t mark = writer.begin_record(Op::metadata_index);
  writer.number(index.offset);
  writer.number(index.length);
  writer.text(index.name);
  writer.end_record(mark);
}

void write_data_end(Bytes& out, std::uint32_t crc) {
  Writer writer(out);
  const std::size_t mark = writer.begin_record(Op::data_end);
  writer.number(crc);
  writer.end_record(mark);
}

void write_summary_offset(Bytes& out, Op op, std::uint64_t begin, std::uint64_t length) {
  Writer writer(out);
  const std::size_t mark = writer.begin_record(Op::summary_offset);
  writer.number(static_cast<std::uint8_t>(op));
  writer.number(begin);
  writer.number(length);
  writer.end_record(mark);
}

void write(Bytes& out, const Statistics& statistics) {
  Writer writer(out);
  const std::size_t mark = writer.begin_record(Op::statistics);
  writer.number(statistics.messages);
  writer.number(statistics.schemas);
  writer.number(statistics.channels);
  writer.number(statistics.attachments);
  writer.number(statistics.metadata);
  writer.number(statistics.chunks);
  writer.number(statistics.first_time);
  writer.number(statistics.last_time);
  writer.map(statistics.channel_messages);
  writer.end_record(mark);
}

StringMap Reader::string_map() {
  Reader entries(take(number<std::uint32_t>()));
  StringMap values;
  while (ok_ && entries.ok() && !entries.rest().empty()) {
    std::string key = entries.text();
    values.emplace_back(std::move(key), entries.text());
  }
  ok_ = ok_ && entries.ok();
  return values;
}

std::map<std::uint16_t, std::uint64_t> Reader::number_map() {
  Reader entries(take(number<std::uint32_t>()));
  std::map<std::uint16_t, std::uint64_t> values;
  while (ok_ && entries.ok() && !entries.rest().empty()) {
    const auto key = entries.number<std::uint16_t>();
    values[key] = entries.number<std::uint64_t>();
  }
  ok_ = ok_ && entries.ok();
  return values;
}

namespace {
template <class T>
std::optional<T> if_ok(const Reader& reader, T value) {
  return reader.ok() ? std::optional<T>(std::move(value)) : std::nullopt;
}
}  // namespace

std::optional<Schema> read_schema(View content) {
  Reader r(content);
  Schema s;
  s.id = r.number<std::uint16_t>();
  s.name = r.text();
  s.encoding = r.text();
  const View data = r.take(r.number<std::uint32_t>());
  s.data.assign(data.begin(), data.end());
  return if_ok(r, std::move(s));
}

std::optional<Channel> read_channel(View content) {
  Reader r(content);
  Channel c;
  c.id = r.number<std::uint16_t>();
  c.schema = r.number<std::uint16_t>();
  c.topic = r.text();
  c.encoding = r.text();
  c.metadata = r.string_map();
  return if_ok(r, std::move(c));
}

std::optional<Metadata> read_metadata(View content) {
  Reader r(content);
  Metadata m;
  m.name = r.text();
  m.values = r.string_map();
  return if_ok(r, std::move(m));
}

std::optional<ChunkIndex> read_chunk_index(View content) {
  Reader r(content);
  ChunkIndex i;
  i.first_time = r.number<std::uint64_t>();
  i.last_time = r.number<std::uint64_t>();
  i.offset = r.number<std::uint64_t>();
  i.length = r.number<std::uint64_t>();
  i.message_index_offsets = r.number_map();
  i.message_index_bytes = r.number<std::uint64_t>();
  i.compression = r.text();
  i.compressed_bytes = r.number<std::uint64_t>();
  i.uncompressed_bytes = r.number<std::uint64_t>();
  return if_ok(r, std::move(i));
}

std::optional<Statistics> read_statistics(View content) {
  Reader r(content);
  Statistics s;
  s.messages = r.number<std::uint64_t>();
  s.schemas = r.number<std::uint16_t>();
  s.channels = r.number<std::uint32_t>();
  s.attachments = r.number<std::uint32_t>();
  s.metadata = r.number<std::uint32_t>();
  s.chunks = r.number<std::uint32_t>();
  s.first_time = r.number<std::uint64_t>();
  s.last_time = r.number<std::uint64_t>();
  s.channel_messages = r.number_map();
  return if_ok(r, std::move(s));
}

std::optional<MetadataIndex> read_metadata_index(View content) {
  Reader r(content);
  MetadataIndex i;
  i.offset = r.number<std::uint64_t>();
  i.length = r.number<std::uint64_t>();
  i.name = r.text();
  return if_ok(r, std::move(i));
}

std::optional<Footer> read_footer(View content) {
  Reader r(content);
  Footer f;
  f.summary_start = r.number<std::uint64_t>();
  f.summary_offset_start = r.number<std::uint64_t>();
  f.summary_crc = r.number<std::uint32_t>();
  return if_ok(r, f);
}

std::optional<ChunkHead> read_chunk_head(View content) {
  Reader r(content);
  ChunkHead head;
  head.chunk.first_time = r.number<std::uint64_t>();
  head.chunk.last_time = r.number<std::uint64_t>();
  head.chunk.uncompressed_bytes = r.number<std::uint64_t>();
  head.chunk.uncompressed_crc = r.number<std::uint32_t>();
  head.chunk.compression = r.text();
  head.records_bytes = r.number<std::uint64_t>();
  head.records_at = content.size() - r.rest().size();
  return if_ok(r, std::move(head));
}

}  // namespace rankscope::mcap
