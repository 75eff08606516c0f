#include <fmt/format.h>

#include <algorithm>

#include "engine/op/words.hpp"
#include "telemetry/trace/trace_index.hpp"
#include "telemetry/trace/trace_layout.hpp"

namespace rankscope {
namespace {

using mcap::Op;
using mcap::View;

constexpr std::uint64_t window = 1 << 20;                  // bytes read at a time while searching
constexpr std::uint64_t greatest_small_record = 16 << 20;  // schema, channel, metadata
constexpr std::uint64_t chunk_head_bytes = 128;            // more than any chunk's head before its records

// Op, length and the beginning of the content of the record at `offset`.
struct RecordHead {
  std::uint8_t op = 0;
  std::uint64_t length = 0;  // of the content
  mcap::Bytes front;
};
std::optional<RecordHead> head_at(const TraceFile& file, std::uint64_t offset) {
  mcap::Bytes bytes = file.read(offset, mcap::record_head + chunk_head_bytes);
  mcap::Reader reader(bytes);
  RecordHead head;
  head.op = reader.number<std::uint8_t>();
  head.length = reader.number<std::uint64_t>();
  if (!reader.ok()) return std::nullopt;
  head.front.assign(reader.rest().begin(), reader.rest().end());
  return head;
}

bool known_op(std::uint8_t op) { return (op >= 1 && op <= mcap::greatest_op) || op >= 0x80; }

// A chunk's own lengths must agree with each other: other data hardly ever does by accident, whatever type a damaged
// byte gives the record.
std::optional<mcap::ChunkHead> plausible_chunk(const RecordHead& head) {
  auto chunk = mcap::read_chunk_head(head.front);
  if (!chunk || chunk->chunk.first_time > chunk->chunk.last_time) return std::nullopt;
  const std::string& packing = chunk->chunk.compression;
  const bool lengths_agree = chunk->records_at + chunk->records_bytes == head.length;
  if (packing.empty() || packing == "lz4") return lengths_agree ? chunk : std::nullopt;
  // If the compression's name is in its place, the record's own length may be the damaged part.
  return packing == "zstd" && chunk->records_bytes < (std::uint64_t{1} << 62) ? chunk : std::nullopt;
}

std::uint64_t content_bytes(const mcap::ChunkHead& chunk) { return chunk.records_at + chunk.records_bytes; }

class Scan {
 public:
  Scan(const TraceFile& file, DamageReport& damage) : file_(file), damage_(damage) {}

  TraceIndex run() {
    std::uint64_t at = mcap::magic.size();
    // A record whose length is damaged ends inside another record: then the search begins after its head.
    std::uint64_t trusted = at;
    while (at < file_.size()) {
      const auto head = head_at(file_, at);
      if (!head) {
        cut(at, "the file ends within a record's head");
        return std::move(index_);
      }
      const auto chunk = plausible_chunk(*head);
      const std::uint64_t length = chunk ? length_of(at, *head, *chunk) : head->length;
      const bool fits = length <= file_.size() - at - mcap::record_head;
      if (fits && (chunk ? take_chunk(at, *head, *chunk) : take(at, *head))) {
        if (!chunk && head->op == static_cast<std::uint8_t>(Op::data_end)) return std::move(index_);
        trusted = chunk ? at + mcap::record_head + length : at;
        at += mcap::record_head + length;
        continue;
      }
      const std::uint64_t from = std::min(trusted + 1, at);
      const std::optional<std::uint64_t> next = find_chunk(std::max(from, mcap::magic.size()));
      if (next && *next > trusted) {
        note_skipped(at, *next);
        at = trusted = *next;
        continue;
      }
      if (chunk && !fits) {
        TracePlace place = place_of(at, *chunk);
        place.cut = true;
        place.length = file_.size() - at;
        index_.places.push_back(place);
        damage_.cut_short = true;
        damage_.notes.push_back(fmt::format("the file ends within the chunk at byte {}", at));
      } else if (known_op(head->op) && !fits) {
        cut(at, "the file ends within a record");
      } else {
        note_skipped(at, file_.size());
      }
      return std::move(index_);
    }
    damage_.cut_short = true;
    damage_.notes.push_back("the file ends without its end mark");
    return std::move(index_);
  }

 private:
  void cut(std::uint64_t at, const std::string& why) {
    damage_.cut_short = true;
    damage_.bytes_skipped += static_cast<std::int64_t>(file_.size() - at);
    damage_.notes.push_back(fmt::format("{} at byte {}", why, at));
  }

  void note_skipped(std::uint64_t from, std::uint64_t to) {
    if (to <= from) {
      // The damaged record's length led past this chunk; the data before it are lost with that record.
      damage_.notes.push_back(fmt::format("a damaged record before byte {}", to));
      damage_.bytes_skipped += static_cast<std::int64_t>(mcap::record_head);
      return;
    }
    damage_.bytes_skipped += static_cast<std::int64_t>(to - from);
    damage_.notes.push_back(fmt::format("skipped {} at byte {} that {} no record; reading continues at byte {}",
                                        counted(to - from, "byte"), from, agreeing(to - from, "is", "are"), to));
  }

  /// A chunk's record and its head both state its length. If they differ, one is damaged: then the length is used after
  /// which another record begins.
  std::uint64_t length_of(std::uint64_t at, const RecordHead& head, const mcap::ChunkHead& chunk) const {
    const std::uint64_t stored = content_bytes(chunk), content = at + mcap::record_head;
    if (head.length == stored || begins_record(content, stored)) return stored;
    return begins_record(content, head.length) ? head.length : stored;
  }

  /// Whether another record's head is at this distance after the beginning of `content`. One byte is weak evidence:
  /// half of all values are a known type.
  bool begins_record(std::uint64_t content, std::uint64_t length) const {
    if (length > file_.size() - content) return false;
    const std::uint64_t at = content + length;
    const auto head = head_at(file_, at);
    if (!head) return at == file_.size();
    if (plausible_chunk(*head)) return true;
    if (head->op == static_cast<std::uint8_t>(Op::message_index)) return messages_in_index(*head).has_value();
    return known_op(head->op) && head->length <= greatest_small_record &&
           head->length <= file_.size() - at - mcap::record_head;
  }

  /// Of a message index; nullopt if its lengths contradict each other.
  static std::optional<std::uint32_t> messages_in_index(const RecordHead& head) {
    mcap::Reader reader(head.front);
    reader.number<std::uint16_t>();
    const auto bytes = reader.number<std::uint32_t>();
    if (!reader.ok() || bytes + 6 != head.length || bytes % 16 != 0) return std::nullopt;
    return bytes / 16;
  }

  static TracePlace place_of(std::uint64_t at, const mcap::ChunkHead& chunk) {
    TracePlace place;
    place.offset = at;
    place.length = mcap::record_head + content_bytes(chunk);
    place.data_bytes = chunk.chunk.uncompressed_bytes;
    place.first_time = chunk.chunk.first_time;
    place.last_time = chunk.chunk.last_time;
    return place;
  }

  bool take_chunk(std::uint64_t at, const RecordHead& head, const mcap::ChunkHead& chunk) {
    if (head.op != static_cast<std::uint8_t>(Op::chunk) || head.length != content_bytes(chunk))
      damage_.notes.push_back(fmt::format("the chunk at byte {} has a damaged head", at));
    index_.places.push_back(place_of(at, chunk));
    return true;
  }

  // False if the record's content contradicts its type.
  bool take(std::uint64_t at, const RecordHead& head) {
    const auto content = [&] { return file_.read(at + mcap::record_head, head.length); };
    switch (static_cast<Op>(head.op)) {
      case Op::chunk: return false;
      case Op::message: {
        if (head.length < mcap::message_head) return false;
        TracePlace place;
        place.kind = TracePlace::Kind::message;
        place.offset = at;
        place.length = mcap::record_head + head.length;
        place.data_bytes = head.length;
        place.messages = 1;
        index_.places.push_back(place);
        return true;
      }
      case Op::message_index: {
        const auto messages = messages_in_index(head);
        if (!messages) return false;
        index_.channel_messages[mcap::Reader(head.front).number<std::uint16_t>()] += *messages;
        if (!index_.places.empty()) {
          TracePlace& place = index_.places.back();
          place.messages = std::max<std::int64_t>(place.messages, 0) + *messages;
        }
        return true;
      }
      case Op::schema:
        if (head.length > greatest_small_record) return false;
        if (auto schema = mcap::read<mcap::Schema>(content())) index_.schemas[schema->id] = std::move(*schema);
        return true;
      case Op::channel:
        if (head.length > greatest_small_record) return false;
        if (auto channel = mcap::read<mcap::Channel>(content())) index_.channels[channel->id] = std::move(*channel);
        return true;
      case Op::metadata:
        if (head.length > greatest_small_record) return false;
        if (auto metadata = mcap::read<mcap::Metadata>(content())) {
          if (metadata->name == session_metadata) index_.session_metadata_at = at;
          index_.metadata.push_back(std::move(*metadata));
        }
        return true;
      case Op::header:
      case Op::footer:
      case Op::chunk_index:
      case Op::attachment:
      case Op::attachment_index:
      case Op::statistics:
      case Op::metadata_index:
      case Op::summary_offset: return true;
      case Op::data_end: return head.length == 4;
    }
    return head.op >= 0x80;  // an extension's record
  }

  // The next plausible zstd or unpacked chunk at or after `from`.
  std::optional<std::uint64_t> find_chunk(std::uint64_t from) const {
    constexpr std::array<std::uint8_t, 8> packing{4, 0, 0, 0, 'z', 's', 't', 'd'};
    constexpr std::uint64_t packing_at = mcap::record_head + 28;  // times, size and checksum before it
    for (std::uint64_t base = from; base < file_.size();) {
      const mcap::Bytes bytes = file_.read(base, window + 64);
      const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
      const auto* end = data + bytes.size();
      for (const auto* hit = data; (hit = std::search(hit, end, packing.begin(), packing.end())) != end; ++hit) {
        const std::uint64_t place = base + static_cast<std::uint64_t>(hit - data);
        if (place < from + packing_at) continue;
        const std::uint64_t candidate = place - packing_at;
        const auto head = head_at(file_, candidate);
        const auto chunk = head ? plausible_chunk(*head) : std::nullopt;
        if (chunk && content_bytes(*chunk) <= file_.size() - candidate - mcap::record_head) return candidate;
      }
      if (bytes.size() <= window) return std::nullopt;
      base += window;
    }
    return std::nullopt;
  }

  const TraceFile& file_;
  DamageReport& damage_;
  TraceIndex index_;
};

}  // namespace

TraceIndex scan_trace(const TraceFile& file, DamageReport& damage) { return Scan(file, damage).run(); }

}  // namespace rankscope
