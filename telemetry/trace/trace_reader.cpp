#include "telemetry/trace/trace_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "engine/op/contains.hpp"
#include "engine/op/words.hpp"
#include "telemetry/trace/chunk_reader.hpp"
#include "telemetry/trace/lost_messages.hpp"
#include "telemetry/trace/output_file.hpp"
#include "telemetry/trace/trace_index.hpp"
#include "telemetry/trace/trace_layout.hpp"

namespace rankscope {
namespace {

constexpr std::uint64_t small_trace_bytes = 1 << 20;
// Of chunks that are being unpacked or wait for next(). A row uses some hundred bytes.
constexpr std::uint64_t greatest_waiting_bytes = std::uint64_t{512} << 20, row_bytes = 100;
// Rows that a file may contain in total.
constexpr std::int64_t free_rows = std::int64_t{4} << 20, rows_a_byte = 8;

// Chunks unpacked by several threads (by the caller, if none) and returned in order; few are held at a time.
class Unpacking {
 public:
  Unpacking(const TraceFile& file, const std::vector<TracePlace>& places, const DecodeLimits& limits, int threads)
      : file_(file), places_(places), limits_(limits), slots_(static_cast<std::size_t>(threads) * 2 + 2) {
    try {
      for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // No more threads can be created: fewer unpack, or only the caller.
    }
  }
  ~Unpacking() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    room_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// The content of the next place, in order.
  ChunkContent next() {
    if (threads_.empty()) return reader_.read(file_, places_[given_++], limits_);
    std::unique_lock lock(mutex_);
    std::optional<ChunkContent>& slot = slots_[given_ % slots_.size()];
    ready_.wait(lock, [&] { return slot.has_value() || failure_; });
    if (failure_) std::rethrow_exception(failure_);
    ChunkContent content = std::move(*slot);
    slot.reset();
    waiting_bytes_ -= bytes_in(content);
    ++given_;
    lock.unlock();
    room_.notify_all();
    return content;
  }

 private:
  // The next chunk in order is accepted with any size; otherwise reading would stop.
  bool may_take() const {
    if (taken_ == given_) return true;
    return taken_ < given_ + slots_.size() &&
           waiting_bytes_ + bytes_to_unpack(places_[taken_]) <= greatest_waiting_bytes;
  }
  static std::uint64_t bytes_in(const ChunkContent& content) {
    return static_cast<std::uint64_t>(content.rows) * row_bytes;
  }
  /// The upper bound: one row per byte.
  static std::uint64_t bytes_to_unpack(const TracePlace& place) {
    const std::uint64_t data = std::min(place.data_bytes, greatest_chunk_bytes);
    return data + std::min(data, static_cast<std::uint64_t>(greatest_chunk_rows)) * row_bytes;
  }

  void work() {
    try {
      ChunkReader reader;
      for (;;) {
        std::size_t mine = 0;
        {
          std::unique_lock lock(mutex_);
          room_.wait(lock, [&] { return stopped_ || taken_ == places_.size() || may_take(); });
          if (stopped_ || taken_ == places_.size()) return;
          mine = taken_++;
          waiting_bytes_ += bytes_to_unpack(places_[mine]);
        }
        ChunkContent content = reader.read(file_, places_[mine], limits_);
        {
          const std::lock_guard lock(mutex_);
          waiting_bytes_ += bytes_in(content) - bytes_to_unpack(places_[mine]);
          slots_[mine % slots_.size()] = std::move(content);
        }
        ready_.notify_one();
        room_.notify_all();
      }
    } catch (...) {  // no memory
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      ready_.notify_one();
    }
  }

  const TraceFile& file_;
  const std::vector<TracePlace>& places_;
  const DecodeLimits limits_;
  ChunkReader reader_;  // used by the calling thread only
  std::mutex mutex_;
  std::condition_variable room_, ready_;
  std::vector<std::optional<ChunkContent>> slots_;
  std::size_t taken_ = 0, given_ = 0;
  std::uint64_t waiting_bytes_ = 0;
  bool stopped_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

// A damaged place whose loss no later message of its senders will report.
std::optional<Gap> gap_at_the_end(const TracePlace& place) {
  if (place.kind != TracePlace::Kind::chunk) return std::nullopt;
  const auto begin = static_cast<std::int64_t>(std::min<std::uint64_t>(place.first_time, INT64_MAX / 2));
  const auto end = static_cast<std::int64_t>(std::min<std::uint64_t>(place.last_time, INT64_MAX / 2));
  return Gap{-1, begin, std::max(begin, end), std::max<std::int64_t>(place.messages, 1), 0, 0};
}

void note_trouble(const TracePlace& place, const ChunkContent& content, DamageReport& damage) {
  const std::int64_t known = place.messages < 0 ? -1 : std::max<std::int64_t>(0, place.messages - content.records);
  ++damage.chunks_skipped;
  if (known > 0) damage.messages_skipped += known;
  if (content.records == 0) damage.bytes_skipped += static_cast<std::int64_t>(place.length);
  std::string note = fmt::format("chunk at byte {}: {}; ", place.offset, content.trouble);
  if (content.records > 0)
    note += fmt::format("{} in front of the damage {} read", counted(content.records, "message"),
                        agreeing(content.records, "was", "were"));
  if (content.records == 0) note += fmt::format("{} skipped", counted(place.length, "byte"));
  if (known > 0) note += fmt::format(", {} lost", counted(known, "message"));
  damage.notes.push_back(std::move(note));
}

// Notes that nothing is read from this chunk on.
void note_rest(const std::vector<TracePlace>& places, std::size_t from, std::int64_t most_rows, DamageReport& damage) {
  for (std::size_t i = from; i < places.size(); ++i)
    damage.bytes_skipped += static_cast<std::int64_t>(places[i].length);
  damage.chunks_skipped += static_cast<std::int64_t>(places.size() - from);
  damage.notes.push_back(
      fmt::format("it holds more than {}, more than a file of this size may; what follows byte {} is not read",
                  counted(most_rows, "row"), places[from].offset));
}

// With an index, the number of a lost chunk's messages is in the message indexes after it.
void count_messages(const TraceFile& file, TracePlace& place) {
  if (place.messages >= 0 || place.cut) return;
  std::uint64_t at = place.offset + place.length;
  for (;;) {
    const mcap::Bytes head = file.read(at, mcap::record_head + 6);
    mcap::Reader reader(head);
    const auto op = reader.number<std::uint8_t>();
    const auto length = reader.number<std::uint64_t>();
    reader.number<std::uint16_t>();
    const auto bytes = reader.number<std::uint32_t>();
    if (!reader.ok() || op != static_cast<std::uint8_t>(mcap::Op::message_index) || bytes + 6 != length) return;
    place.messages = std::max<std::int64_t>(place.messages, 0) + bytes / 16;
    at += mcap::record_head + length;
  }
}

bool holds_a_sweep(const TraceIndex& index) {
  return std::any_of(index.channels.begin(), index.channels.end(),
                     [](const auto& entry) { return entry.second.topic == sweep_topic; });
}

bool has_our_channels(const TraceIndex& index) {
  return std::any_of(index.channels.begin(), index.channels.end(),
                     [](const auto& entry) { return contains(event_topics, entry.second.topic); });
}

/// Of end_metadata; nullopt if a value is missing or not its kind.
std::optional<End> end_of(const mcap::Metadata& metadata) {
  const std::string *ok = find_value(metadata, "ok"), *message = find_value(metadata, "message");
  const std::string *last_step = find_value(metadata, "last_step"), *rank = find_value(metadata, "failed_rank");
  if (!ok || !message || !last_step || !rank) return std::nullopt;
  const auto step = number_in<std::int64_t>(*last_step);
  const auto failed = number_in<std::int32_t>(*rank);
  if (!step || !failed) return std::nullopt;
  return End{-1, *ok == "true", *step, *message, false, *failed};
}

}  // namespace

TraceInfo read_trace_info(const std::string& path) {
  const TraceFile file(path);
  TraceInfo info;
  const TraceIndex index = index_trace(file, info.damage);
  info.path = path;
  info.file_bytes = static_cast<std::int64_t>(file.size());
  info.library = index.library;
  for (const mcap::Metadata& metadata : index.metadata) {
    if (const std::string* session = find_value(metadata, "session"); session && metadata.name == session_metadata)
      info.session = *session;
    if (const std::string* forged = find_value(metadata, forged_key); forged && metadata.name == relay_metadata)
      if (std::from_chars(forged->data(), forged->data() + forged->size(), info.forged).ec != std::errc{})
        info.forged = -1;
    if (metadata.name == run_metadata)
      for (const auto& [key, value] : metadata.values) info.run[key] = value;
    if (metadata.name == end_metadata) info.end = end_of(metadata);
    if (const std::string* lost = find_value(metadata, "messages"); lost && metadata.name == loss_metadata) {
      info.unrecorded = number_in<std::int64_t>(*lost).value_or(0);
      if (const std::string* reason = find_value(metadata, "reason")) info.unrecorded_reason = *reason;
    }
  }
  info.marks = marks_in(index);
  bool first = true;
  for (const TracePlace& place : index.places) {
    info.data_bytes += static_cast<std::int64_t>(place.data_bytes);
    if (place.kind != TracePlace::Kind::chunk) {
      ++info.messages;
      continue;
    }
    ++info.chunks;
    const auto begin = static_cast<std::int64_t>(place.first_time), end = static_cast<std::int64_t>(place.last_time);
    info.first_ns = first ? begin : std::min(info.first_ns, begin);
    info.last_ns = first ? end : std::max(info.last_ns, end);
    first = false;
  }
  std::map<std::uint16_t, std::int64_t> counts = index.channel_messages;
  for (const auto& [id, channel] : index.channels) {
    const auto schema = index.schemas.find(channel.schema);
    info.topics.push_back(
        {channel.topic, channel.encoding, schema == index.schemas.end() ? "" : schema->second.name, counts[id]});
    info.messages += counts[id];
    counts.erase(id);
  }
  for (const auto& [id, count] : counts)
    if (count > 0) {
      info.topics.push_back({fmt::format("channel {}", id), "", "", count});
      info.messages += count;
    }
  return info;
}

bool read_trace(const std::string& path, EventSink& sink, const ReadTraceOptions& options, DamageReport* damage) {
  DamageReport own;
  DamageReport& report = damage ? *damage : own;
  const TraceFile file(path);
  TraceIndex index = index_trace(file, report);
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int requested = options.threads > 0 ? options.threads : std::min(cores, 4);
  // A small trace is read in less time than a thread needs to start.
  std::uint64_t data_bytes = 0;
  for (const TracePlace& place : index.places) data_bytes += place.data_bytes;
  const int threads = options.threads == 0 && data_bytes < small_trace_bytes ? 0 : requested;
  LostMessages lost;
  std::optional<Gap> last_gap;
  std::int64_t passed = 0, rows = 0;
  const std::int64_t most_rows = free_rows + rows_a_byte * static_cast<std::int64_t>(file.size());
  SessionId session{};
  {
    Unpacking unpacking(file, index.places, options.limits, threads);
    for (std::size_t i = 0; i < index.places.size(); ++i) {
      ChunkContent content = unpacking.next();
      if ((rows += content.rows) > most_rows) {
        note_rest(index.places, i, most_rows, report);
        break;
      }
      for (const Message& message : content.messages) {
        lost.accept(message);
        sink.accept(message);
        session = message.session;
        last_gap.reset();
      }
      passed += static_cast<std::int64_t>(content.messages.size());
      if (!content.trouble.empty()) {
        count_messages(file, index.places[i]);
        note_trouble(index.places[i], content, report);
        last_gap = gap_at_the_end(index.places[i]);
      }
      if (content.refused > 0) {
        report.messages_refused += content.refused;
        report.notes.push_back(fmt::format("chunk at byte {}: {} refused: {}", index.places[i].offset,
                                           counted(content.refused, "message"), content.refusal));
      }
      if (options.progress && !options.progress(static_cast<double>(i + 1) / static_cast<double>(index.places.size())))
        return false;
    }
  }
  if (passed == 0 && holds_a_sweep(index))
    throw TraceError(path +
                     ": a sweep's recording: figures of many runs, and no run to open; see them with "
                     "rankscope-trace stats");
  if (passed == 0 && !report.any() && !has_our_channels(index))
    throw TraceError(path + ": an MCAP file, but without a run that Rankscope recorded");
  // Holes in an undamaged recording are messages that the recorder itself missed and reported.
  if (!report.data_lost()) return true;
  for (const Message& gap : lost.gaps()) sink.accept(gap);
  if (last_gap) {
    Message message;
    message.session = session;
    message.rank = -1;
    message.event = *last_gap;
    sink.accept(message);
  }
  return true;
}

void recover_trace(const std::string& from, const std::string& to, DamageReport* damage,
                   const ReadTraceOptions& options) {
  OutputFile output(to, {from});
  TraceWriter writer(output.path());
  DamageReport found;
  read_trace(from, writer, options, &found);
  if (writer.messages() == 0 && found.any())
    throw std::runtime_error(from + ": nothing could be recovered: it has no complete message");
  if (damage) *damage = std::move(found);
  TraceInfo info = read_trace_info(from);
  if (info.forged >= 0) writer.count_forged(info.forged);
  for (TraceMark& mark : info.marks) writer.mark(std::move(mark));
  if (!writer.close()) throw std::runtime_error(writer.error());
  output.commit();
}

}  // namespace rankscope
