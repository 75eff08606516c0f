#include "telemetry/trace/mcap.hpp"

#include <bit>

#include "telemetry/event/crc32.hpp"

namespace rankscope::mcap {

static_assert(std::endian::native == std::endian::little, "records are copied as they lie in memory");

void Writer::field(const StringMap& values) {
  Bytes entries;
  Writer writer(entries);
  for (const auto& [key, value] : values) {
    writer.text(key);
    writer.text(value);
  }
  number(static_cast<std::uint32_t>(entries.size()));
  bytes(entries);
}

void Writer::field(const std::map<std::uint16_t, std::uint64_t>& values) {
  number(static_cast<std::uint32_t>(values.size() * 10));
  for (const auto& [key, value] : values) {
    number(key);
    number(value);
  }
}

void Writer::field(const MessageIndex& entries) {
  number(static_cast<std::uint32_t>(entries.size() * 16));
  for (const auto& [time, at] : entries) {
    number(time);
    number(at);
  }
}

void write_message(Bytes& out, std::uint16_t channel, std::uint32_t sequence, std::uint64_t time, View data) {
  write_record(out, Op::message, channel, sequence, time, time, data);
}

void write_chunk(Bytes& out, const Chunk& chunk, View records) {
  std::apply(
      [&](const auto&... fields) {
        write_record(out, Op::chunk, fields..., static_cast<std::uint64_t>(records.size()), records);
      },
      Chunk::fields(chunk));
}

void write_end(Bytes& out, std::uint64_t summary_start, std::uint64_t offsets_start) {
  write(out, Footer{summary_start, offsets_start, 0});
  const std::uint32_t checksum = crc32(View(out).first(out.size() - sizeof(std::uint32_t)));
  std::memcpy(out.data() + out.size() - sizeof checksum, &checksum, sizeof checksum);
  Writer(out).bytes(std::as_bytes(std::span(magic)));
}

void write_header(Bytes& out, std::string_view profile, std::string_view library) {
  write_record(out, Op::header, profile, library);
}

void write_data_end(Bytes& out, std::uint32_t crc) { write_record(out, Op::data_end, crc); }

void write_summary_offset(Bytes& out, Op op, std::uint64_t begin, std::uint64_t length) {
  write_record(out, Op::summary_offset, static_cast<std::uint8_t>(op), begin, length);
}

void Reader::field(StringMap& values) {
  Reader entries(take(number<std::uint32_t>()));
  while (ok_ && entries.ok() && !entries.rest().empty()) {
    std::string key = entries.text();
    values.emplace_back(std::move(key), entries.text());
  }
  ok_ = ok_ && entries.ok();
}

void Reader::field(std::map<std::uint16_t, std::uint64_t>& values) {
  Reader entries(take(number<std::uint32_t>()));
  while (ok_ && entries.ok() && !entries.rest().empty()) {
    const auto key = entries.number<std::uint16_t>();
    values[key] = entries.number<std::uint64_t>();
  }
  ok_ = ok_ && entries.ok();
}

std::optional<ChunkHead> read_chunk_head(View content) {
  Reader r(content);
  ChunkHead head;
  std::apply([&r](auto&... fields) { (r.field(fields), ...); }, Chunk::fields(head.chunk));
  head.records_bytes = r.number<std::uint64_t>();
  head.records_at = content.size() - r.rest().size();
  return r.ok() ? std::optional(std::move(head)) : std::nullopt;
}

}  // namespace rankscope::mcap
