#include "telemetry/trace/trace_writer.hpp"

#include <zstd.h>

#include <map>
#include <nlohmann/json.hpp>

#include "telemetry/event/crc32.hpp"
#include "telemetry/event/encoded.hpp"
#include "telemetry/event/message_time.hpp"
#include "telemetry/trace/mcap.hpp"
#include "telemetry/trace/record_file.hpp"
#include "telemetry/trace/scalars.hpp"
#include "telemetry/trace/trace_layout.hpp"

namespace rankscope {
namespace {

using mcap::Bytes;
using SteadyClock = std::chrono::steady_clock;

constexpr std::uint16_t event_schema_id = 1;

mcap::Schema scalar_schema(std::uint16_t id, const std::string& topic, const ScalarValues& values) {
  nlohmann::json properties = nlohmann::json::object();
  for (const auto& [name, value] : values) properties[name] = {{"type", name == "step" ? "integer" : "number"}};
  const std::string text = nlohmann::json{{"type", "object"}, {"title", topic}, {"properties", properties}}.dump();
  return json_schema(id, topic, text);
}

std::uint64_t log_time(std::int64_t time_ns) { return static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 0)); }

}  // namespace

struct TraceWriter::State {
  RecordFile file;
  TraceWriterOptions options;
  bool closed = false;
  std::int64_t lost = 0;

  std::vector<mcap::Schema> schemas;
  std::vector<mcap::Channel> channels;
  std::map<std::string, std::uint16_t, std::less<>> scalar_channels;
  std::vector<mcap::ChunkIndex> chunk_indexes;
  std::vector<mcap::MetadataIndex> metadata_indexes;
  std::vector<TraceMark> marks;  // at the end of the data: save_marks() replaces them there
  mcap::Statistics statistics;
  ScalarTopics scalars;
  std::string scalar_text;
  bool introduced = false, run_described = false;
  std::uint64_t latest = 0;  // log time for messages without a time of their own

  // The open chunk.
  Bytes chunk;
  mcap::Chunk head;
  std::int64_t chunk_messages = 0;
  std::map<std::uint16_t, mcap::MessageIndex> indexes;
  SteadyClock::time_point chunk_begun;
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> compressor{ZSTD_createCCtx(), &ZSTD_freeCCtx};
  Bytes compressed, out;

  State(std::string path_, TraceWriterOptions options_, ScalarTopics::Publish publish)
      : file(std::move(path_)), options(options_), scalars(std::move(publish)) {
    if (!compressor) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(compressor.get(), ZSTD_c_compressionLevel, options.compression_level);
    chunk.reserve(options.chunk_bytes + options.chunk_bytes / 4);
  }

  void put_metadata(const mcap::Metadata& metadata) {
    out.clear();
    mcap::write(out, metadata);
    metadata_indexes.push_back({file.bytes(), out.size(), metadata.name});
    if (file.put(out)) {
      ++statistics.metadata;
    } else {
      metadata_indexes.pop_back();
    }
  }

  void introduce(const Message& message) {
    introduced = true;
    put_metadata(session_metadata_of(
        {{"session", to_string(message.session)}, {"version", RANKSCOPE_VERSION}, {"clock", "session"}}, file.crc()));
  }

  void describe_run(const Hello& hello) {
    run_described = true;
    put_metadata(with_crc({std::string(run_metadata),
                           {{"title", hello.title},
                            {"ranks", std::to_string(hello.ranks)},
                            {"communicator", hello.communicator},
                            {"device", hello.device},
                            {"host", hello.host},
                            {"started_utc", hello.started_utc},
                            {"headline_clock", std::string(name_of(hello.headline))}}}));
  }

  void describe_end(const End& end) {
    put_metadata(with_crc({std::string(end_metadata),
                           {{"ok", end.ok ? "true" : "false"},
                            {"last_step", std::to_string(end.last_step)},
                            {"failed_rank", std::to_string(end.failed_rank)},
                            {"message", end.message}}}));
  }

  void put_message(std::uint16_t channel, std::uint32_t sequence, std::uint64_t time, mcap::View data) {
    if (chunk_messages == 0) {
      head = {};
      head.first_time = head.last_time = time;
      chunk_begun = SteadyClock::now();
    }
    head.first_time = std::min(head.first_time, time);
    head.last_time = std::max(head.last_time, time);
    indexes[channel].emplace_back(time, chunk.size());
    mcap::write_message(chunk, channel, sequence, time, data);
    ++chunk_messages;
    if (chunk.size() >= options.chunk_bytes || SteadyClock::now() - chunk_begun >= options.chunk_age) close_chunk();
  }

  // For a batch, `message` may lack the rows.
  void take(const Message& message, std::uint16_t channel, const std::optional<TimeRange>& time, mcap::View bytes) {
    if (closed) {
      ++lost;
      return;
    }
    if (!introduced) introduce(message);
    const bool is_control = channel == channel_of(EventKind::hello);
    if (const auto* hello = std::get_if<Hello>(&message.event); hello && is_control && !run_described)
      describe_run(*hello);
    if (const auto* end = std::get_if<End>(&message.event); end && end->rank < 0) describe_end(*end);
    if (time) latest = log_time(time->begin_ns);
    put_message(channel, static_cast<std::uint32_t>(message.sequence), latest, bytes);
    if (const auto* summary = std::get_if<StepSummary>(&message.event); summary && options.scalars)
      scalars.accept(*summary);
  }

  /// What finish() needs at most, so that a full disk leaves a recording with its index.
  std::uint64_t end_bytes() const {
    constexpr std::uint64_t of_a_record = 64, of_a_channel = 10;  // of a chunk's index, in each of its channels
    std::uint64_t bytes = std::uint64_t{16} << 10;                // marks, the run's end, what is lost
    for (const auto& schema : schemas) bytes += of_a_record + schema.data.size() + schema.name.size();
    for (const auto& channel : channels) bytes += of_a_record + channel.topic.size();
    return bytes + (chunk_indexes.size() + 1) * (2 * of_a_record + of_a_channel * channels.size()) +
           metadata_indexes.size() * 2 * of_a_record;
  }

  void close_chunk() {
    if (chunk_messages == 0) return;
    compressed.resize(ZSTD_compressBound(chunk.size()));
    const std::size_t size =
        ZSTD_compress2(compressor.get(), compressed.data(), compressed.size(), chunk.data(), chunk.size());
    const bool packed = !ZSTD_isError(size);
    const mcap::View records = packed ? mcap::View(compressed).first(size) : mcap::View(chunk);
    head.compression = packed ? "zstd" : "";
    head.uncompressed_bytes = chunk.size();
    head.uncompressed_crc = crc32(chunk);

    mcap::ChunkIndex index{head.first_time,  head.last_time, file.bytes(), 0, {}, 0,
                           head.compression, records.size(), chunk.size()};
    out.clear();
    mcap::write_chunk(out, head, records);
    index.length = out.size();
    for (const auto& [channel, entries] : indexes) {
      index.message_index_offsets[channel] = file.bytes() + out.size();
      mcap::write_record(out, mcap::Op::message_index, channel, entries);
    }
    index.message_index_bytes = out.size() - index.length;
    if (file.has_room(out.size() + end_bytes()) && file.put(out)) {
      if (statistics.messages == 0) statistics.first_time = head.first_time;
      statistics.first_time = std::min(statistics.first_time, head.first_time);
      statistics.last_time = std::max(statistics.last_time, head.last_time);
      statistics.messages += static_cast<std::uint64_t>(chunk_messages);
      for (const auto& [channel, entries] : indexes) statistics.channel_messages[channel] += entries.size();
      ++statistics.chunks;
      chunk_indexes.push_back(std::move(index));
    } else {
      lost += chunk_messages;
    }
    chunk.clear();
    indexes.clear();
    chunk_messages = 0;
  }

  // All records of one kind, and the position of their group.
  struct Group {
    mcap::Op op;
    std::uint64_t start, length;
  };
  template <class Records>
  void summarise(mcap::Op op, const Records& records, std::vector<Group>& groups) {
    const std::size_t before = out.size();
    for (const auto& record : records) mcap::write(out, record);
    if (out.size() > before) groups.push_back({op, file.bytes() + before, out.size() - before});
  }

  void finish() {
    out.clear();
    mcap::write_data_end(out, file.crc());
    if (!file.put(out)) return;

    statistics.schemas = static_cast<std::uint16_t>(schemas.size());
    statistics.channels = static_cast<std::uint32_t>(channels.size());
    out.clear();
    std::vector<Group> groups;
    const std::uint64_t summary_start = file.bytes();
    summarise(mcap::Op::schema, schemas, groups);
    summarise(mcap::Op::channel, channels, groups);
    summarise(mcap::Op::statistics, std::vector{statistics}, groups);
    summarise(mcap::Op::chunk_index, chunk_indexes, groups);
    summarise(mcap::Op::metadata_index, metadata_indexes, groups);
    const std::uint64_t offsets_start = file.bytes() + out.size();
    for (const Group& group : groups) mcap::write_summary_offset(out, group.op, group.start, group.length);
    mcap::write_end(out, summary_start, offsets_start);
    file.put(out);
  }
};

TraceWriter::TraceWriter(std::string path, TraceWriterOptions options) {
  state_ = std::make_unique<State>(
      std::move(path), options,
      [this](const std::string& topic, std::int64_t time, const ScalarValues& values) { scalar(topic, time, values); });
  State& s = *state_;
  const auto schema = event_schema();
  s.schemas.push_back(
      {event_schema_id, std::string(event_schema_root()), "flatbuffer", {schema.begin(), schema.end()}});
  s.out.clear();
  mcap::Writer(s.out).bytes(std::as_bytes(std::span(mcap::magic)));
  mcap::write_header(s.out, trace_profile, "rankscope " RANKSCOPE_VERSION);
  mcap::write(s.out, s.schemas.back());
  for (std::size_t i = 0; i < event_topics.size(); ++i) {
    s.channels.push_back(
        {static_cast<std::uint16_t>(i + 1), event_schema_id, std::string(event_topics[i]), "flatbuffer", {}});
    mcap::write(s.out, s.channels.back());
  }
  if (!s.file.put(s.out)) throw TraceError(s.file.error());
}

TraceWriter::~TraceWriter() { close(); }

void TraceWriter::accept(const Message& message) {
  state_->take(message, channel_of(kind_of(message.event)), time_of(message.event), encode(message));
}

void TraceWriter::accept_encoded(const EncodedMessage& message) {
  State& s = *state_;
  if (!is_batch(message.kind()))
    return s.take(message.message(), channel_of(message.kind()), message.time(), message.bytes());
  // A batch's rows are not needed here, only its head.
  Message head;
  head.session = message.envelope().session;
  head.sequence = message.envelope().sequence;
  s.take(head, channel_of(message.kind()), message.time(), message.bytes());
}

void TraceWriter::scalar(std::string_view topic, std::int64_t time_ns, const ScalarValues& values) {
  State& s = *state_;
  if (s.closed) return;
  auto channel = s.scalar_channels.find(topic);
  if (channel == s.scalar_channels.end()) {
    if (s.channels.size() >= UINT16_MAX) return;
    const auto schema_id = static_cast<std::uint16_t>(s.schemas.size() + 1);
    const auto channel_id = static_cast<std::uint16_t>(s.channels.size() + 1);
    s.schemas.push_back(scalar_schema(schema_id, std::string(topic), values));
    s.channels.push_back({channel_id, schema_id, std::string(topic), "json", {}});
    // A chunk may contain them as well; written before the chunk's messages, a scan finds them in any case.
    mcap::write(s.chunk, s.schemas.back());
    mcap::write(s.chunk, s.channels.back());
    channel = s.scalar_channels.emplace(topic, channel_id).first;
  }
  s.scalar_text.clear();
  append_json(s.scalar_text, values);
  s.put_message(channel->second, static_cast<std::uint32_t>(s.statistics.channel_messages[channel->second]),
                log_time(time_ns), std::as_bytes(std::span(s.scalar_text)));
}

void TraceWriter::tick() {
  State& s = *state_;
  if (s.chunk_messages > 0 && SteadyClock::now() - s.chunk_begun >= s.options.chunk_age) s.close_chunk();
}

void TraceWriter::count_forged(std::int64_t messages) {
  if (!state_->closed)
    state_->put_metadata(
        with_crc({std::string(relay_metadata), {{std::string(forged_key), std::to_string(messages)}}}));
}
void TraceWriter::mark(TraceMark mark) { state_->marks.push_back(std::move(mark)); }

void TraceWriter::flush() { state_->close_chunk(); }

bool TraceWriter::close() {
  State& s = *state_;
  if (s.closed) return s.file.close();
  if (s.options.scalars) s.scalars.finish();
  s.close_chunk();
  for (const TraceMark& mark : s.marks) s.put_metadata(metadata_of(mark));
  if (s.lost > 0)
    s.put_metadata(
        with_crc({std::string(loss_metadata), {{"messages", std::to_string(s.lost)}, {"reason", s.file.error()}}}));
  s.finish();
  s.closed = true;
  return s.file.close();
}

std::int64_t TraceWriter::messages() const {
  return static_cast<std::int64_t>(state_->statistics.messages) + state_->chunk_messages;
}
std::int64_t TraceWriter::lost_messages() const { return state_->lost; }
std::uint64_t TraceWriter::bytes() const { return state_->file.bytes(); }
const std::string& TraceWriter::error() const { return state_->file.error(); }

}  // namespace rankscope
