#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "event_bfbs_generated.h"
#include "event_generated.h"
#include "flatbuffers/util.h"
#include "telemetry/event/codec.hpp"

namespace rankscope {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

std::string utf8(const std::string& text) {
  std::string clean;
  clean.reserve(text.size());
  for (const char* at = text.c_str(); at < text.c_str() + text.size();) {
    const char* next = at;
    if (flatbuffers::FromUTF8(&next) < 0 || next > text.c_str() + text.size()) {
      clean += '?';
      ++at;
    } else {
      clean.append(at, next);
      at = next;
    }
  }
  return clean;
}

using Values = std::vector<std::uint64_t>;

// Of eight bytes, those with any bit set.
std::uint8_t planes_of(std::uint64_t differing) {
  std::uint8_t planes = 0;
  for (unsigned k = 0; k < 8; ++k)
    if ((differing >> (8 * k) & 0xFF) != 0) planes = static_cast<std::uint8_t>(planes | 1U << k);
  return planes;
}

Offset<wire::Column> write_planes(FlatBufferBuilder& out, const Values& values, std::uint64_t base,
                                  std::uint8_t planes) {
  if (planes == 0) return wire::CreateColumn(out, static_cast<std::int64_t>(base));
  const std::size_t rows = values.size();
  std::uint8_t* plane = nullptr;
  const auto data = out.CreateUninitializedVector(rows * static_cast<std::size_t>(std::popcount(planes)), &plane);
  for (unsigned k = 0; k < 8; ++k) {
    if ((planes >> k & 1) == 0) continue;
    for (std::size_t i = 0; i < rows; ++i) plane[i] = static_cast<std::uint8_t>(values[i] >> (8 * k));
    plane += rows;
  }
  return wire::CreateColumn(out, static_cast<std::int64_t>(base), planes, data);
}

/// Writes the columns of one batch; `values` is scratch.
template <class Row>
class Columns {
 public:
  Columns(FlatBufferBuilder& out, Values& values, const std::vector<Row>& rows)
      : out_(out), values_(values), rows_(rows) {
    if (rows.size() > DecodeLimits{}.rows) throw std::length_error("telemetry: a batch has too many rows; split it");
    values_.resize(rows.size());
  }

  /// Numbers, as differences to the least.
  template <class F>
  Offset<wire::Column> numbers(F field) {
    if (rows_.empty()) return wire::CreateColumn(out_);
    std::int64_t least = field(rows_[0]), greatest = least;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::int64_t value = field(rows_[i]);
      least = value < least ? value : least;
      greatest = value > greatest ? value : greatest;
      values_[i] = static_cast<std::uint64_t>(value);
    }
    const auto base = static_cast<std::uint64_t>(least);
    if (least == greatest) return write_planes(out_, values_, base, 0);
    std::uint64_t differing = 0;
    for (std::uint64_t& value : values_) {
      value -= base;
      differing |= value;
    }
    return write_planes(out_, values_, base, planes_of(differing));
  }

  /// Op ids, which are fields of bits: the bytes in which they differ.
  Offset<wire::Column> ops() {
    std::uint64_t differing = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      values_[i] = rows_[i].op.value();
      differing |= values_[i] ^ values_[0];
    }
    const auto planes = static_cast<std::uint8_t>(planes_of(differing) | 1U);
    std::uint64_t base = rows_.empty() ? 0 : values_[0];
    for (unsigned k = 0; k < 8; ++k)
      if ((planes >> k & 1) != 0) base &= ~(std::uint64_t{0xFF} << (8 * k));
    return write_planes(out_, values_, base, planes);
  }

 private:
  FlatBufferBuilder& out_;
  Values& values_;
  const std::vector<Row>& rows_;
};

// One overload per kind of event; each returns the union's member and its offset.
struct Written {
  wire::Event type;
  Offset<void> offset;
};

Written write(FlatBufferBuilder& out, Values&, const Hello& e) {
  const auto title = out.CreateString(utf8(e.title)), toml = out.CreateString(utf8(e.scenario_toml)),
             communicator = out.CreateString(utf8(e.communicator)), device = out.CreateString(utf8(e.device)),
             host = out.CreateString(utf8(e.host)), started = out.CreateString(utf8(e.started_utc)),
             energy = out.CreateString(utf8(e.energy_unknown));
  return {wire::Event::Hello, wire::CreateHello(out, title, toml, e.ranks, communicator, device, host, started, e.steps,
                                                static_cast<std::uint8_t>(e.headline), e.entropy_nats, e.peak_flops,
                                                energy, e.memory_bandwidth, e.peak_spread)
                                  .Union()};
}

Written write(FlatBufferBuilder& out, Values&, const ProgramRecord& e) {
  const auto text = out.CreateString(utf8(e.text));
  return {wire::Event::Program, wire::CreateProgram(out, e.rank, e.hash, text).Union()};
}

Written write(FlatBufferBuilder& out, Values&, const ClockRecord& e) {
  return {wire::Event::Clock, wire::CreateClock(out, e.rank, e.at_ns, e.offset_ns, e.uncertainty_ns).Union()};
}

Written write(FlatBufferBuilder& out, Values&, const End& e) {
  const auto message = out.CreateString(utf8(e.message));
  return {wire::Event::End,
          wire::CreateEnd(out, e.rank, e.ok, e.last_step, message, e.in_communication, e.failed_rank).Union()};
}

/// Later classes use no space if they are empty: readers set missing ones to zero.
constexpr std::size_t first_memory_classes = 6;

Written write(FlatBufferBuilder& out, Values&, const StepSummary& e) {
  std::vector<wire::TrafficRow> rows;
  rows.reserve(e.traffic.size());
  for (const TrafficRow& t : e.traffic)
    rows.emplace_back(t.count, t.payload_bytes, t.wire_bytes, static_cast<std::uint8_t>(t.purpose),
                      static_cast<std::uint8_t>(t.kind), static_cast<std::uint8_t>(t.group));
  const auto traffic = out.CreateVectorOfStructs(rows);
  std::vector<wire::SentBytes> links;
  for (const SentBytes& link : e.sent) links.emplace_back(link.bytes, link.to);
  const auto sent = out.CreateVectorOfStructs(links);
  flatbuffers::Offset<flatbuffers::Vector<std::uint32_t>> magnitudes;
  if (!e.magnitudes.empty()) magnitudes = out.CreateVector(e.magnitudes);
  std::size_t classes = e.peak_bytes.size();
  while (classes > first_memory_classes && e.peak_bytes[classes - 1] == 0) --classes;
  const auto peaks = out.CreateVector(e.peak_bytes.data(), classes);
  return {wire::Event::Summary,
          wire::CreateSummary(out, e.rank, e.step, e.begin_ns, e.end_ns, e.loss, e.gradient_square_norm,
                              e.learning_rate, e.tokens, e.model_flops, e.hardware_flops, peaks, e.peak_total_bytes,
                              traffic, e.spans_emitted, e.spans_dropped, sent, e.loss_scale,
                              e.energy_joules.value_or(std::numeric_limits<double>::quiet_NaN()),
                              static_cast<std::uint8_t>(e.energy_source), magnitudes, e.loss_not_finite)
              .Union()};
}

Written write(FlatBufferBuilder& out, Values& scratch, const SpanBatch& e) {
  Columns columns(out, scratch, e.rows);
  const auto col = [&](auto field) { return columns.numbers(field); };
  const auto op = columns.ops();
  const auto rank = col([](const Span& s) { return s.rank; });
  const auto step = col([](const Span& s) { return s.step; });
  const auto begin = col([](const Span& s) { return s.begin_ns; });
  const auto wait = col([](const Span& s) { return s.active_ns - s.begin_ns; });
  const auto work = col([](const Span& s) { return s.end_ns - s.active_ns; });
  const auto cpu = col([](const Span& s) { return s.cpu_ns; });
  return {wire::Event::Spans,
          wire::CreateSpans(out, static_cast<std::uint8_t>(e.obtained), static_cast<std::uint8_t>(e.clock), op, rank,
                            step, begin, wait, work, cpu)
              .Union()};
}

Written write(FlatBufferBuilder& out, Values& scratch, const MemoryBatch& e) {
  Columns columns(out, scratch, e.rows);
  const auto col = [&](auto field) { return columns.numbers(field); };
  const auto op = columns.ops();
  const auto rank = col([](const MemorySample& s) { return s.rank; });
  const auto step = col([](const MemorySample& s) { return s.step; });
  const auto time = col([](const MemorySample& s) { return s.time_ns; });
  std::array<Offset<wire::Column>, memory_class_count> bytes;
  for (std::size_t k = 0; k < bytes.size(); ++k)
    if (k < first_memory_classes ||
        std::any_of(e.rows.begin(), e.rows.end(), [k](const MemorySample& s) { return s.bytes[k] != 0; }))
      bytes[k] = col([k](const MemorySample& s) { return s.bytes[k]; });
  return {
      wire::Event::Memory,
      wire::CreateMemory(out, static_cast<std::uint8_t>(e.obtained), static_cast<std::uint8_t>(e.clock), op, rank, step,
                         time, bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8])
          .Union()};
}

Written write(FlatBufferBuilder& out, Values& scratch, const PhaseBatch& e) {
  Columns columns(out, scratch, e.rows);
  const auto col = [&](auto field) { return columns.numbers(field); };
  const auto op = columns.ops();
  const auto rank = col([](const PhaseSpan& p) { return p.rank; });
  const auto step = col([](const PhaseSpan& p) { return p.step; });
  const auto phase = col([](const PhaseSpan& p) { return p.phase; });
  const auto chunk = col([](const PhaseSpan& p) { return p.chunk; });
  const auto from = col([](const PhaseSpan& p) { return p.from; });
  const auto to = col([](const PhaseSpan& p) { return p.to; });
  const auto bytes = col([](const PhaseSpan& p) { return p.bytes; });
  const auto begin = col([](const PhaseSpan& p) { return p.begin_ns; });
  const auto length = col([](const PhaseSpan& p) { return p.end_ns - p.begin_ns; });
  return {wire::Event::Phases,
          wire::CreatePhases(out, static_cast<std::uint8_t>(e.obtained), static_cast<std::uint8_t>(e.clock), op, rank,
                             step, phase, chunk, from, to, bytes, begin, length)
              .Union()};
}

Written write(FlatBufferBuilder& out, Values&, const Gap& e) {
  return {wire::Event::Gap,
          wire::CreateGap(out, e.rank, e.begin_ns, e.end_ns, e.events, e.first_sequence, e.last_sequence).Union()};
}

wire::Session to_wire(const SessionId& session) {
  std::uint64_t halves[2];
  std::memcpy(halves, session.data(), sizeof halves);
  return {halves[0], halves[1]};
}

}  // namespace

struct Encoder::State {
  FlatBufferBuilder out{1024};
  Values scratch;
};

Encoder::Encoder() : state_(std::make_unique<State>()) {}
Encoder::~Encoder() = default;

std::span<const std::byte> Encoder::encode(const Message& message) {
  FlatBufferBuilder& out = state_->out;
  out.Clear();
  const Written event = std::visit([&](const auto& e) { return write(out, state_->scratch, e); }, message.event);
  const wire::Session session = to_wire(message.session);
  wire::FinishMessageBuffer(out, wire::CreateMessage(out, &session, message.rank, message.sequence,
                                                     message.control_sequence, event.type, event.offset));
  return {reinterpret_cast<const std::byte*>(out.GetBufferPointer()), out.GetSize()};
}

std::vector<std::byte> encode(const Message& message) {
  Encoder encoder;
  const auto bytes = encoder.encode(message);
  return {bytes.begin(), bytes.end()};
}

std::span<const std::byte> event_schema() {
  return {reinterpret_cast<const std::byte*>(wire::MessageBinarySchema::data()), wire::MessageBinarySchema::size()};
}

std::string_view event_schema_root() { return "rankscope.wire.Message"; }

}  // namespace rankscope
