#include "telemetry/trace/json_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "telemetry/event/crc32.hpp"
#include "telemetry/trace/chunk_reader.hpp"
#include "telemetry/trace/record_file.hpp"
#include "telemetry/trace/trace_index.hpp"
#include "telemetry/trace/trace_layout.hpp"

namespace rankscope {
namespace {

using mcap::Bytes;

/// Accepts any object: the documents' headers define their content.
mcap::Schema object_schema(std::uint16_t id, std::string_view topic) {
  return json_schema(id, topic, R"({"type":"object"})");
}

}  // namespace

struct JsonTraceWriter::State {
  explicit State(std::string path) : file(std::move(path)) {}

  RecordFile file;
  bool closed = false;
  std::vector<mcap::Schema> schemas;
  std::vector<mcap::Channel> channels;
  std::vector<mcap::ChunkIndex> chunks;
  mcap::MetadataIndex head;
  mcap::Statistics statistics;
  Bytes out;

  void begin() {
    mcap::Writer(out).bytes(std::as_bytes(std::span(mcap::magic)));
    mcap::write_header(out, trace_profile, "rankscope " RANKSCOPE_VERSION);
    if (!file.put(out)) throw TraceError(file.error());
    const mcap::Metadata metadata = session_metadata_of({{"version", RANKSCOPE_VERSION}}, file.crc());
    out.clear();
    mcap::write(out, metadata);
    head = {file.bytes(), out.size(), metadata.name};
    if (!file.put(out)) throw TraceError(file.error());
    statistics.metadata = 1;
  }

  /// The topic's channel, created if it is new; 0 if it cannot be written.
  std::uint16_t channel_of(std::string_view topic) {
    for (const mcap::Channel& channel : channels)
      if (channel.topic == topic) return channel.id;
    const auto id = static_cast<std::uint16_t>(channels.size() + 1);
    const mcap::Schema schema = object_schema(id, topic);
    const mcap::Channel channel{id, id, std::string(topic), "json", {}};
    out.clear();
    mcap::write(out, schema);
    mcap::write(out, channel);
    if (!file.put(out)) return 0;
    schemas.push_back(schema);
    channels.push_back(channel);
    return id;
  }

  bool write_chunk(std::uint16_t channel, std::uint64_t time, std::string_view document) {
    Bytes records;
    mcap::write_message(records, channel, static_cast<std::uint32_t>(statistics.channel_messages[channel]), time,
                        std::as_bytes(std::span(document)));

    mcap::ChunkIndex index{time, time, file.bytes(), 0, {}, 0, "", records.size(), records.size()};
    out.clear();
    mcap::write_chunk(out, {time, time, records.size(), crc32(records), ""}, records);  // not compressed: it is small
    index.length = out.size();
    index.message_index_offsets[channel] = file.bytes() + out.size();
    mcap::write_record(out, mcap::Op::message_index, channel, mcap::MessageIndex{{time, 0}});
    index.message_index_bytes = out.size() - index.length;
    if (!file.put(out)) return false;
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
    mcap::write_data_end(out, file.crc());
    if (!file.put(out)) return false;
    statistics.schemas = static_cast<std::uint16_t>(schemas.size());
    statistics.channels = static_cast<std::uint32_t>(channels.size());
    const std::uint64_t summary_start = file.bytes();
    out.clear();
    for (const mcap::Schema& schema : schemas) mcap::write(out, schema);
    for (const mcap::Channel& channel : channels) mcap::write(out, channel);
    mcap::write(out, statistics);
    for (const mcap::ChunkIndex& chunk : chunks) mcap::write(out, chunk);
    mcap::write(out, head);
    mcap::write_end(out, summary_start, 0);  // no offsets to the summary's groups: it is short
    return file.put(out);
  }
};

JsonTraceWriter::JsonTraceWriter(std::string path) : state_(std::make_unique<State>(std::move(path))) {
  state_->begin();
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
  if (!s.closed) s.finish();
  s.closed = true;
  return s.file.close();
}

const std::string& JsonTraceWriter::error() const { return state_->file.error(); }

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
    report.notes.push_back(fmt::format("chunk at byte {}: {}", place.offset, content.trouble));
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
