#include <cstring>
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

// A column of integers: `value(i)` for i < rows.
template <class F>
Offset<wire::Column> column(FlatBufferBuilder& out, std::size_t rows, F value) {
  std::int64_t least = rows == 0 ? 0 : value(0), greatest = least;
  for (std::size_t i = 1; i < rows; ++i) {
    const std::int64_t v = value(i);
    least = v < least ? v : least;
    greatest = v > greatest ? v : greatest;
  }
  if (least == greatest) return wire::CreateColumn(out, least);
  const auto range = static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(least);
  if (range <= UINT32_MAX) {
    std::uint32_t* data = nullptr;
    const auto narrow = out.CreateUninitializedVector(rows, &data);
    for (std::size_t i = 0; i < rows; ++i)
      data[i] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(value(i)) - static_cast<std::uint64_t>(least));
    return wire::CreateColumn(out, least, narrow);
  }
  std::int64_t* data = nullptr;
  const auto wide = out.CreateUninitializedVector(rows, &data);
  for (std::size_t i = 0; i < rows; ++i) data[i] = value(i);
  return wire::CreateColumn(out, 0, 0, wide);
}

template <class Row>
Offset<flatbuffers::Vector<std::uint64_t>> ops(FlatBufferBuilder& out, const std::vector<Row>& rows) {
  if (rows.size() > DecodeLimits{}.rows) throw std::length_error("telemetry: a batch has too many rows; split it");
  std::uint64_t* data = nullptr;
  const auto vector = out.CreateUninitializedVector(rows.size(), &data);
  for (std::size_t i = 0; i < rows.size(); ++i) data[i] = rows[i].op.value();
  return vector;
}

// One overload per kind of event; each returns the union's member and its offset.
struct Written {
  wire::Event type;
  Offset<void> offset;
};

Written write(FlatBufferBuilder& out, const Hello& e) {
  const auto title = out.CreateString(utf8(e.title)), toml = out.CreateString(utf8(e.scenario_toml)),
             communicator = out.CreateString(utf8(e.communicator)), device = out.CreateString(utf8(e.device)),
             host = out.CreateString(utf8(e.host)), started = out.CreateString(utf8(e.started_utc));
  return {wire::Event::Hello, wire::CreateHello(out, title, toml, e.ranks, communicator, device, host, started, e.steps,
                                                static_cast<std::uint8_t>(e.headline), e.entropy_nats, e.peak_flops)
                                  .Union()};
}

Written write(FlatBufferBuilder& out, const ProgramRecord& e) {
  const auto text = out.CreateString(utf8(e.text));
  return {wire::Event::Program, wire::CreateProgram(out, e.rank, e.hash, text).Union()};
}

Written write(FlatBufferBuilder& out, const ClockRecord& e) {
  return {wire::Event::Clock, wire::CreateClock(out, e.rank, e.at_ns, e.offset_ns, e.uncertainty_ns).Union()};
}

Written write(FlatBufferBuilder& out, const End& e) {
  const auto message = out.CreateString(utf8(e.message));
  return {wire::Event::End, wire::CreateEnd(out, e.rank, e.ok, e.last_step, message, e.in_communication).Union()};
}

Written write(FlatBufferBuilder& out, const StepSummary& e) {
  std::vector<wire::TrafficRow> rows;
  rows.reserve(e.traffic.size());
  for (const TrafficRow& t : e.traffic)
    rows.emplace_back(t.count, t.payload_bytes, t.wire_bytes, static_cast<std::uint8_t>(t.purpose),
                      static_cast<std::uint8_t>(t.kind));
  const auto traffic = out.CreateVectorOfStructs(rows);
  const auto peaks = out.CreateVector(e.peak_bytes.data(), e.peak_bytes.size());
  return {wire::Event::Summary,
          wire::CreateSummary(out, e.rank, e.step, e.begin_ns, e.end_ns, e.loss, e.gradient_square_norm,
                              e.learning_rate, e.tokens, e.model_flops, e.hardware_flops, peaks, e.peak_total_bytes,
                              traffic, e.spans_emitted, e.spans_dropped)
              .Union()};
}

Written write(FlatBufferBuilder& out, const SpanBatch& e) {
  const std::size_t n = e.spans.size();
  const auto col = [&](auto field) {
    return column(out, n, [&](std::size_t i) -> std::int64_t { return field(e.spans[i]); });
  };
  const auto op = ops(out, e.spans);
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

Written write(FlatBufferBuilder& out, const MemoryBatch& e) {
  const std::size_t n = e.samples.size();
  const auto col = [&](auto field) {
    return column(out, n, [&](std::size_t i) -> std::int64_t { return field(e.samples[i]); });
  };
  const auto op = ops(out, e.samples);
  const auto rank = col([](const MemorySample& s) { return s.rank; });
  const auto step = col([](const MemorySample& s) { return s.step; });
  const auto time = col([](const MemorySample& s) { return s.time_ns; });
  std::array<Offset<wire::Column>, 5> bytes;
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = col([k](const MemorySample& s) { return s.bytes[k]; });
  return {wire::Event::Memory,
          wire::CreateMemory(out, static_cast<std::uint8_t>(e.obtained), static_cast<std::uint8_t>(e.clock), op, rank,
                             step, time, bytes[0], bytes[1], bytes[2], bytes[3], bytes[4])
              .Union()};
}

Written write(FlatBufferBuilder& out, const PhaseBatch& e) {
  const std::size_t n = e.phases.size();
  const auto col = [&](auto field) {
    return column(out, n, [&](std::size_t i) -> std::int64_t { return field(e.phases[i]); });
  };
  const auto op = ops(out, e.phases);
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

Written write(FlatBufferBuilder& out, const Gap& e) {
  return {wire::Event::Gap,
          wire::CreateGap(out, e.rank, e.begin_ns, e.end_ns, e.events, e.first_sequence, e.last_sequence).Union()};
}

wire::Session to_wire(const SessionId& session) {
  std::uint64_t halves[2];
  std::memcpy(halves, session.data(), sizeof halves);
  return {halves[0], halves[1]};
}

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  FlatBufferBuilder out(1024);
  const Written event = std::visit([&](const auto& e) { return write(out, e); }, message.event);
  const wire::Session session = to_wire(message.session);
  wire::FinishMessageBuffer(out, wire::CreateMessage(out, &session, message.rank, message.sequence,
                                                     message.control_sequence, event.type, event.offset));
  const auto* begin = reinterpret_cast<const std::byte*>(out.GetBufferPointer());
  return {begin, begin + out.GetSize()};
}

std::span<const std::byte> event_schema() {
  return {reinterpret_cast<const std::byte*>(wire::MessageBinarySchema::data()), wire::MessageBinarySchema::size()};
}

std::string_view event_schema_root() { return "rankscope.wire.Message"; }

}  // namespace rankscope
