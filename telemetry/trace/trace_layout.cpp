#include "telemetry/trace/trace_layout.hpp"

#include <fmt/format.h>

#include <cstring>

#include "telemetry/event/crc32.hpp"

namespace rankscope {

std::string hex_of(std::uint32_t crc) { return fmt::format("{:08x}", crc); }

std::string metadata_crc(const mcap::Metadata& metadata) {
  mcap::Metadata covered{metadata.name, {}};
  for (const auto& value : metadata.values)
    if (value.first != metadata_crc_key) covered.values.push_back(value);
  mcap::Bytes bytes;
  mcap::write(bytes, covered);
  return hex_of(crc32(bytes));
}

mcap::Metadata with_crc(mcap::Metadata metadata) {
  metadata.values.emplace_back(metadata_crc_key, metadata_crc(metadata));
  return metadata;
}

mcap::Metadata session_metadata_of(mcap::StringMap more, std::uint32_t head_crc) {
  more.emplace_back(head_crc_key, hex_of(head_crc));
  return with_crc({std::string(session_metadata), std::move(more)});
}

mcap::Schema json_schema(std::uint16_t id, std::string_view topic, std::string_view text) {
  mcap::Schema schema{id, "rankscope" + std::string(topic), "jsonschema", {}};
  schema.data.resize(text.size());
  std::memcpy(schema.data.data(), text.data(), text.size());
  return schema;
}

std::uint16_t channel_of(EventKind kind) {
  switch (kind) {
    case EventKind::hello:
    case EventKind::program:
    case EventKind::clock:
    case EventKind::end:
    case EventKind::gap: return 1;
    case EventKind::summary: return 2;
    case EventKind::spans: return 3;
    case EventKind::memory: return 4;
    case EventKind::phases: return 5;
  }
  return 1;
}

bool is_telemetry(mcap::View data) {
  constexpr std::string_view identifier = "RSEV";  // event.fbs; FlatBuffers puts it after the root's offset
  return data.size() >= 8 && mcap::Reader::as_text(data.subspan(4, 4)) == identifier;
}

}  // namespace rankscope
