#include "telemetry/trace/trace_index.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/op/words.hpp"
#include "telemetry/event/crc32.hpp"
#include "telemetry/trace/trace_layout.hpp"

namespace rankscope {
namespace {

using mcap::Op;
using mcap::View;

constexpr std::uint64_t tail_bytes = mcap::record_head + mcap::footer_bytes + mcap::magic.size();
constexpr std::uint64_t greatest_summary_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t greatest_head_bytes = std::uint64_t{1} << 20;  // of a file's own index and metadata
constexpr std::size_t most_metadata = 1000;

std::nullopt_t refuse(std::string& why, std::string reason) {
  why = std::move(reason);
  return std::nullopt;
}

// Reads the metadata record at the indexed place; a missing one is noted.
void read_metadata_at(const TraceFile& file, const mcap::MetadataIndex& place, TraceIndex& index,
                      DamageReport& damage) {
  const bool fits = place.length >= mcap::record_head && place.length <= greatest_head_bytes;
  const mcap::Bytes record = fits ? file.read(place.offset, place.length) : mcap::Bytes();
  mcap::Reader reader(record);
  const bool is_metadata = reader.number<std::uint8_t>() == static_cast<std::uint8_t>(Op::metadata) &&
                           reader.number<std::uint64_t>() + mcap::record_head == place.length;
  auto metadata = is_metadata ? mcap::read<mcap::Metadata>(reader.rest()) : std::nullopt;
  if (!metadata || metadata->name != place.name) {
    damage.head_damaged = true;
    damage.notes.push_back(fmt::format("the metadata '{}' at byte {} is damaged", place.name, place.offset));
  }
  if (!metadata) return;
  if (metadata->name == session_metadata) index.session_metadata_at = place.offset;
  index.metadata.push_back(std::move(*metadata));
}

// The contents of the summary, if the file has a complete one; otherwise the reason.
std::optional<TraceIndex> read_summary(const TraceFile& file, std::string& why, DamageReport& damage) {
  const auto summary = summary_of(file, why);
  if (!summary) return std::nullopt;
  TraceIndex index;
  std::optional<mcap::Statistics> statistics;
  std::vector<mcap::MetadataIndex> metadata;
  mcap::Reader records(View(summary->records));
  while (!records.rest().empty()) {
    const auto op = static_cast<Op>(records.number<std::uint8_t>());
    const View content = records.take(records.number<std::uint64_t>());
    if (!records.ok()) break;
    if (op == Op::schema) {
      if (auto schema = mcap::read<mcap::Schema>(content)) index.schemas[schema->id] = std::move(*schema);
    } else if (op == Op::channel) {
      if (auto channel = mcap::read<mcap::Channel>(content)) index.channels[channel->id] = std::move(*channel);
    } else if (op == Op::statistics) {
      statistics = mcap::read<mcap::Statistics>(content);
    } else if (op == Op::metadata_index) {
      if (auto place = mcap::read<mcap::MetadataIndex>(content)) metadata.push_back(std::move(*place));
    } else if (op == Op::chunk_index) {
      const auto chunk = mcap::read<mcap::ChunkIndex>(content);
      if (!chunk || chunk->length > file.size() || chunk->offset > file.size() - chunk->length ||
          chunk->length < mcap::record_head)
        return refuse(why, "a chunk index points outside the file");
      TracePlace place;
      place.offset = chunk->offset;
      place.length = chunk->length;
      place.data_bytes = chunk->uncompressed_bytes;
      place.first_time = chunk->first_time;
      place.last_time = chunk->last_time;
      index.places.push_back(place);
    }
  }
  if (!records.ok()) return refuse(why, "the summary's records do not fit into it");
  if (!statistics || statistics->chunks != index.places.size())
    return refuse(why, statistics ? "it does not index every chunk" : "it has no statistics");
  if (index.places.empty() && statistics->messages > 0) return refuse(why, "its messages are in no chunks");
  for (const auto& [channel, count] : statistics->channel_messages)
    index.channel_messages[channel] = static_cast<std::int64_t>(count);
  std::sort(index.places.begin(), index.places.end(),
            [](const TracePlace& a, const TracePlace& b) { return a.offset < b.offset; });
  for (std::size_t i = 1; i < index.places.size(); ++i)
    if (index.places[i].offset < index.places[i - 1].offset + index.places[i - 1].length)
      return refuse(why, fmt::format("it names the bytes at {} twice", index.places[i].offset));
  if (metadata.size() > most_metadata)
    return refuse(why, fmt::format("it has {}", counted(metadata.size(), "metadata record")));
  for (const mcap::MetadataIndex& place : metadata) read_metadata_at(file, place, index, damage);
  return index;
}

void note_head(DamageReport& damage, std::string what) {
  damage.head_damaged = true;
  damage.notes.push_back(std::move(what));
}

// Checks the file's summary by the checksums that our own writer adds.
void check_head(const TraceFile& file, const TraceIndex& index, std::string_view profile, DamageReport& damage) {
  for (const mcap::Metadata& metadata : index.metadata) {
    const bool ours = metadata.name == session_metadata || metadata.name == run_metadata ||
                      metadata.name == end_metadata || metadata.name == relay_metadata ||
                      metadata.name == loss_metadata || metadata.name == mark_metadata;
    const std::string* crc = find_value(metadata, metadata_crc_key);
    if ((crc == nullptr && ours && profile == trace_profile) || (crc != nullptr && *crc != metadata_crc(metadata)))
      note_head(damage, "the metadata '" + metadata.name + "' are damaged: their checksum is wrong");
    const std::string* head_crc = find_value(metadata, head_crc_key);
    if (metadata.name != session_metadata || head_crc == nullptr) continue;
    const auto at = index.session_metadata_at;
    if (at > 0 && at <= greatest_head_bytes && hex_of(crc32(file.read(0, at))) != *head_crc)
      note_head(damage, fmt::format("the file's header ({}) is damaged: its checksum is wrong", counted(at, "byte")));
  }
}

// Chunks that exceed the unpacked size allowed for a file of this size are not read.
void limit_data(const TraceFile& file, TraceIndex& index) {
  const std::uint64_t most = greatest_data_bytes(file.size());
  std::uint64_t data = 0;
  for (TracePlace& place : index.places) {
    place.beyond = place.data_bytes > most - data;
    if (!place.beyond) data += place.data_bytes;
  }
}

}  // namespace

std::optional<SummaryBytes> summary_of(const TraceFile& file, std::string& why) {
  if (file.size() < mcap::magic.size() + tail_bytes) return refuse(why, "it is too short to have one");
  const mcap::Bytes tail = file.read(file.size() - tail_bytes, tail_bytes);
  mcap::Reader reader(tail);
  const bool is_footer = reader.number<std::uint8_t>() == static_cast<std::uint8_t>(Op::footer) &&
                         reader.number<std::uint64_t>() == mcap::footer_bytes;
  const auto footer = mcap::read<mcap::Footer>(reader.rest());
  if (!is_footer || !footer || std::memcmp(tail.data() + tail.size() - 8, mcap::magic.data(), 8) != 0)
    return refuse(why, "the file does not end as one that was finished");
  const std::uint64_t end = file.size() - tail_bytes;
  if (footer->summary_start == 0 || footer->summary_start > end) return refuse(why, "the footer names no summary");
  if (end - footer->summary_start > greatest_summary_bytes) return refuse(why, "the summary is too large");
  const std::uint64_t covered = end - footer->summary_start + mcap::record_head + 16;
  mcap::Bytes summary = file.read(footer->summary_start, covered);
  if (footer->summary_crc != 0 && crc32(summary) != footer->summary_crc)
    return refuse(why, "the summary's checksum is wrong");
  summary.resize(std::min<std::size_t>(summary.size(), end - footer->summary_start));
  return SummaryBytes{footer->summary_start, std::move(summary)};
}

TraceIndex index_trace(const TraceFile& file, DamageReport& damage) {
  const mcap::Bytes head = file.read(0, 64 * 1024);
  if (head.empty()) throw TraceError(file.path() + ": the file is empty, so it is no trace");
  const std::size_t known = std::min(head.size(), mcap::magic.size());
  std::size_t right = 0;
  for (std::size_t i = 0; i < known; ++i) right += std::to_integer<std::uint8_t>(head[i]) == mcap::magic[i];
  // One byte of the magic may be damaged; with more, it is considered another kind of file.
  if (right + 1 < known || (known < mcap::magic.size() && right < known))
    throw TraceError(file.path() + ": not a trace: it does not begin as an MCAP file");
  if (right < known) damage.notes.push_back("the mark at the file's beginning is damaged");

  std::string why;
  std::optional<TraceIndex> index = read_summary(file, why, damage);
  if (!index) {
    damage.index_missing = true;
    damage.notes.push_back("no index: " + why + "; scanned instead");
    index = scan_trace(file, damage);
    const mcap::Bytes mark = file.read(file.size() - std::min<std::uint64_t>(file.size(), 8), 8);
    if (mark.size() < 8 || std::memcmp(mark.data(), mcap::magic.data(), 8) != 0) damage.cut_short = true;
  }
  std::string profile;
  bool has_header = false;
  if (head.size() > known + mcap::record_head && head[8] == static_cast<std::byte>(Op::header)) {
    mcap::Reader reader(View(head).subspan(9));
    mcap::Reader content(reader.take(reader.number<std::uint64_t>()));
    profile = content.text();
    std::string library = content.text();
    has_header = content.ok();
    if (has_header) index->library = std::move(library);
  }
  if (!has_header && !damage.cut_short) note_head(damage, "the file's header is damaged");
  check_head(file, *index, profile, damage);
  limit_data(file, *index);
  return std::move(*index);
}

const std::string* find_value(const mcap::Metadata& metadata, std::string_view key) {
  for (const auto& [name, value] : metadata.values)
    if (name == key) return &value;
  return nullptr;
}

std::vector<TraceMark> marks_in(const TraceIndex& index) {
  std::vector<TraceMark> marks;
  for (const mcap::Metadata& metadata : index.metadata)
    if (auto mark = mark_of(metadata); mark && marks.size() < most_marks) marks.push_back(std::move(*mark));
  return marks;
}

}  // namespace rankscope
