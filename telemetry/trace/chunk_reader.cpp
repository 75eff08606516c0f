#include "telemetry/trace/chunk_reader.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>

#include "telemetry/event/crc32.hpp"
#include "telemetry/event/message_time.hpp"
#include "telemetry/trace/trace_layout.hpp"

namespace rankscope {
namespace {

using mcap::Op;
using mcap::View;

using Others = std::vector<OtherMessage>;

void take_message(View content, const DecodeLimits& limits, ChunkContent& out, Others* others) {
  ++out.records;
  if (content.size() < mcap::message_head) {
    ++out.refused;
    return;
  }
  const View data = content.subspan(mcap::message_head);
  if (!is_telemetry(data)) {
    if (!others) return;
    mcap::Reader head(content);
    const auto channel = head.number<std::uint16_t>();
    head.number<std::uint32_t>();  // sequence
    others->push_back({channel, head.number<std::uint64_t>(), mcap::Reader::as_text(data)});
    return;
  }
  DecodeLimits left = limits;
  left.rows = std::min(limits.rows, static_cast<std::size_t>(greatest_chunk_rows - out.rows));
  Decoded decoded = decode(data, left);
  if (decoded) out.rows += rows_of(decoded.message.event);
  switch (decoded.outcome) {
    case Decoded::Outcome::message: out.messages.push_back(std::move(decoded.message)); break;
    case Decoded::Outcome::unknown: ++out.unknown; break;
    case Decoded::Outcome::refused:
      if (out.refused++ == 0) out.refusal = decoded.error;
      break;
  }
}

// The records of an unpacked chunk; false if they do not fill it exactly.
bool take_records(View bytes, const DecodeLimits& limits, ChunkContent& out, Others* others) {
  mcap::Reader records(bytes);
  while (!records.rest().empty()) {
    const auto op = records.number<std::uint8_t>();
    const View content = records.take(records.number<std::uint64_t>());
    if (!records.ok()) return false;
    if (op == static_cast<std::uint8_t>(Op::message)) {
      take_message(content, limits, out, others);
    } else if (op == static_cast<std::uint8_t>(Op::schema) || op == static_cast<std::uint8_t>(Op::channel)) {
      ++out.schemas_and_channels;
    }
  }
  return true;
}

}  // namespace

struct ChunkReader::State {
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> decompressor{ZSTD_createDCtx(), &ZSTD_freeDCtx};
  mcap::Bytes data;

  // Unpacks into `data`; returns the error, if any. For a chunk that was cut off, unpacks the part that exists.
  std::string unpack(const mcap::Chunk& chunk, View records, bool cut) {
    if (chunk.compression.empty()) {
      data.assign(records.begin(), records.end());
      return !cut && data.size() != chunk.uncompressed_bytes ? "its length is wrong" : "";
    }
    if (chunk.compression != "zstd") return "it is compressed by '" + chunk.compression + "', which is not supported";
    data.resize(chunk.uncompressed_bytes);
    if (!cut) {
      const std::size_t size =
          ZSTD_decompressDCtx(decompressor.get(), data.data(), data.size(), records.data(), records.size());
      if (ZSTD_isError(size)) return std::string("it does not decompress: ") + ZSTD_getErrorName(size);
      return size != data.size() ? "its length is wrong" : "";
    }
    ZSTD_DCtx_reset(decompressor.get(), ZSTD_reset_session_only);
    ZSTD_inBuffer in{records.data(), records.size(), 0};
    ZSTD_outBuffer out{data.data(), data.size(), 0};
    while (in.pos < in.size && out.pos < out.size) {
      const std::size_t before_in = in.pos, before_out = out.pos;
      const std::size_t hint = ZSTD_decompressStream(decompressor.get(), &out, &in);
      if (ZSTD_isError(hint) || hint == 0 || (in.pos == before_in && out.pos == before_out)) break;
    }
    data.resize(out.pos);
    return "";
  }
};

ChunkReader::ChunkReader() : state_(std::make_unique<State>()) {
  if (!state_->decompressor) throw std::bad_alloc();
}
ChunkReader::~ChunkReader() = default;

ChunkContent ChunkReader::read(const TraceFile& file, const TracePlace& place, const DecodeLimits& limits,
                               Others* others) {
  ChunkContent out;
  const auto trouble = [&](std::string what) {
    out.trouble = std::move(what);
    return std::move(out);
  };
  if (place.length > greatest_chunk_bytes || place.data_bytes > greatest_chunk_bytes)
    return trouble("it is larger than any chunk should be");
  if (place.beyond) return trouble("with it the file would unpack to more than a file of this size may hold");
  if (place.data_bytes > freely_packed_bytes && place.data_bytes / greatest_packing > place.length)
    return trouble(fmt::format("it claims to unpack to {} times its size, which no recording does",
                               place.data_bytes / place.length));
  mcap::Bytes record;
  try {
    record = file.read(place.offset, place.length);
  } catch (const TraceError& error) {
    return trouble(error.what());
  }
  if (record.size() < place.length) return trouble("the file ends within it");
  mcap::Reader reader(record);
  // Type and length: the checksum decides whether this is the chunk.
  reader.number<std::uint8_t>();
  reader.number<std::uint64_t>();
  if (place.kind == TracePlace::Kind::message) {
    take_message(reader.rest(), limits, out, others);
    return out;
  }
  const auto head = mcap::read_chunk_head(reader.rest());
  if (!head || head->chunk.uncompressed_bytes != place.data_bytes ||
      (!place.cut && head->records_at + head->records_bytes != reader.rest().size()))
    return trouble("its head is damaged, or none is where the index says");
  const View records = reader.rest().subspan(head->records_at);
  if (std::string what = state_->unpack(head->chunk, records, place.cut); !what.empty())
    return trouble(std::move(what));
  if (place.cut) {
    take_records(state_->data, limits, out, others);  // a truncated part is not a received message
    return trouble("the file ends within it");
  }
  if (head->chunk.uncompressed_crc != 0 && crc32(state_->data) != head->chunk.uncompressed_crc)
    return trouble("its checksum is wrong");
  if (!take_records(state_->data, limits, out, others)) out.trouble = "its records do not fit into it";
  return out;
}

}  // namespace rankscope
