#include "telemetry/trace/json_trace.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "telemetry/event/crc32.hpp"
#include "telemetry/trace/chunk_reader.hpp"
#include "telemetry/trace/trace_index.hpp"

#ifndef RANKSCOPE_VERSION
#define RANKSCOPE_VERSION "unknown"
#endif

namespace rankscope {
namespace {

using mcap::Bytes;

/// Any object: the documents' own headers say what is in them.
mcap::Schema object_schema(std::uint16_t id, std::string_view topic) {
  constexpr std::string_view text = R"({"type":"object"})";
  mcap::Schema schema{id, "rankscope" + std::string(topic), "jsonschema", {}};
  schema.data.resize(text.size());
  std::memcpy(schema.data.data(), text.data(), text.size());
  return schema;
}

}  // namespace

struct JsonTraceWriter::State {
  std::string path, error;
  int file = -1;
  bool closed = false, complete = true;
  std::uint64_t offset = 0;
  std::uint32_t crc = 0;
  std::vector<mcap::Schema> schemas;
  std::vector<mcap::Channel> channels;
  std::vector<mcap::ChunkIndex> chunks;
  mcap::Statistics statistics;
  Bytes out;

  bool fail(const char* doing) {
    complete = false;
    if (error.empty()) error = path + ": " + doing + ": " + std::strerror(errno);
    return false;
  }

  /// All of `out`, or nothing that counts.
  bool put() {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t written = ::write(file, out.data() + done, out.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        fail("cannot write");
        if (::ftruncate(file, static_cast<off_t>(offset)) != 0 ||
            ::lseek(file, static_cast<off_t>(offset), SEEK_SET) < 0)
          fail("cannot cut back");
        return false;
      }
      done += static_cast<std::size_t>(written);
    }
    offset += out.size();
    crc = crc32(out, crc);
    return true;
  }

  /// The topic's channel, made if it is new; 0 when that cannot be written.
  std::uint16_t channel_of(std::string_view topic) {
    for (const mcap::Channel& channel : channels)
      if (channel.topic == topic) return channel.id;
    const auto id = static_cast<std::uint16_t>(channels.size() + 1);
    const mcap::Schema schema = object_schema(id, topic);
    const mcap::Channel channel{id, id, std::string(topic), "json", {}};
    out.clear();
    mcap::write(out, schema);
    mcap::write(out, channel);
    if (!put()) return 0;
    schemas.push_back(schema);
    channels.push_back(channel);
    return id;
  }

  bool write_chunk(std::uint16_t channel, std::uint64_t time, std::string_view document) {
    Bytes records;
    mcap::Writer record(records);
    std::size_t mark = record.begin_record(mcap::Op::message);
    record.number(channel);
    record.number(static_cast<std::uint32_t>(statistics.channel_messages[channel]));
    record.number(time);
    record.number(time);
    record.bytes(std::as_bytes(std::span(document)));
    record.end_record(mark);

    mcap::ChunkIndex index{time, time, offset, 0, {}, 0, "", records.size(), records.size()};
    out.clear();
    mcap::Writer writer(out);
    mark = writer.begin_record(mcap::Op::chunk);
    writer.number(time);
    writer.number(time);
    writer.number(static_cast<std::uint64_t>(records.size()));
    writer.number(crc32(records));
    writer.text("");  // not compressed: there is little of it
    writer.number(static_cast<std::uint64_t>(records.size()));
    writer.bytes(records);
    writer.end_record(mark);
    index.length = out.size();
    index.message_index_offsets[channel] = offset + out.size();
    mark = writer.begin_record(mcap::Op::message_index);
    writer.number(channel);
    writer.number(std::uint32_t{16});
    writer.number(time);
    writer.number(std::uint64_t{0});
    writer.end_record(mark);
    index.message_index_bytes = out.size() - index.length;
    if (!put()) return false;
    statistics.first_time = statistics.messages == 0 ? time : std::min(statistics.first_time, time);
    statistics.last_time = std::max(statistics.last_time, time);
    ++statistics.messages;
    ++statistics.chunks;
    ++statistics.channel_messages[channel];
    chunks.push_back(std::move(index));
    return true;
  }

  bool finish() {
    out.clear();
    mcap::Writer writer(out);
    std::size_t mark = writer.begin_record(mcap::Op::data_end);
    writer.number(crc);
    writer.end_record(mark);
    if (!put()) return false;
    statistics.schemas = static_cast<std::uint16_t>(schemas.size());
    statistics.channels = static_cast<std::uint32_t>(channels.size());
    const std::uint64_t summary_start = offset;
    out.clear();
    for (const mcap::Schema& schema : schemas) mcap::write(out, schema);
    for (const mcap::Channel& channel : channels) mcap::write(out, channel);
    mcap::write(out, statistics);
    for (const mcap::ChunkIndex& chunk : chunks) mcap::write(out, chunk);
    mark = writer.begin_record(mcap::Op::footer);
    writer.number(summary_start);
    writer.number(std::uint64_t{0});  // no offsets to the summary's groups: it is short
    writer.number(std::uint32_t{0});
    writer.end_record(mark);
    const std::uint32_t checksum = crc32(mcap::View(out).first(out.size() - sizeof(std::uint32_t)));
    std::memcpy(out.data() + out.size() - sizeof checksum, &checksum, sizeof checksum);
    writer.bytes(std::as_bytes(std::span(mcap::magic)));
    return put();
  }
};

JsonTraceWriter::JsonTraceWriter(std::string path) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.path = std::move(path);
  s.file = ::open(s.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (s.file < 0) throw TraceError(s.path + ": cannot create: " + std::strerror(errno));
  mcap::Writer(s.out).bytes(std::as_bytes(std::span(mcap::magic)));
  mcap::write_header(s.out, "", "rankscope " RANKSCOPE_VERSION);
  if (s.put()) return;
  ::close(s.file);
  s.closed = true;
  throw TraceError(s.error);
}

JsonTraceWriter::~JsonTraceWriter() { close(); }

bool JsonTraceWriter::write(std::string_view topic, std::int64_t time_ns, std::string_view document) {
  State& s = *state_;
  if (s.closed) return false;
  const std::uint16_t channel = s.channel_of(topic);
  return channel != 0 &&
         s.write_chunk(channel, static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 0)), document);
}

bool JsonTraceWriter::close() {
  State& s = *state_;
  if (s.closed) return s.complete;
  s.closed = true;
  s.finish();
  if (::close(s.file) != 0) s.fail("cannot close");
  return s.complete;
}

const std::string& JsonTraceWriter::error() const { return state_->error; }

std::vector<JsonDocument> read_json_trace(const std::string& path, DamageReport* damage) {
  DamageReport own;
  DamageReport& report = damage ? *damage : own;
  const TraceFile file(path);
  const TraceIndex index = index_trace(file, report);
  ChunkReader reader;
  std::vector<JsonDocument> documents;
  for (const TracePlace& place : index.places) {
    std::vector<OtherMessage> messages;
    const ChunkContent content = reader.read(file, place, {}, &messages);
    for (OtherMessage& message : messages)
      if (const auto channel = index.channels.find(message.channel);
          channel != index.channels.end() && channel->second.encoding == "json")
        documents.push_back(
            {channel->second.topic, static_cast<std::int64_t>(message.log_time), std::move(message.data)});
    if (content.trouble.empty()) continue;
    ++report.chunks_skipped;
    report.bytes_skipped += static_cast<std::int64_t>(place.length);
    report.notes.push_back("chunk at byte " + std::to_string(place.offset) + ": " + content.trouble);
  }
  return documents;
}

bool has_topic(const std::string& path, std::string_view topic) {
  try {
    const TraceInfo info = read_trace_info(path);
    return std::any_of(info.topics.begin(), info.topics.end(), [&](const TraceTopic& t) { return t.name == topic; });
  } catch (const TraceError&) {
    return false;
  }
}

}  // namespace rankscope
