#include <cstring>

#include "event_generated.h"
#include "flatbuffers/util.h"
#include "telemetry/event/codec.hpp"

namespace rankscope {
namespace {

SessionId from_wire(const wire::Session& session) {
  const std::uint64_t halves[2] = {session.high(), session.low()};
  SessionId id;
  std::memcpy(id.data(), halves, sizeof halves);
  return id;
}

struct Refusal {
  std::string why;
};
struct FromTheFuture {};  // an enumerator that decides the meaning of the whole event and is not known here

constexpr std::int64_t greatest_time_ns = std::int64_t{1} << 62;  // 146 years; sums of two still fit
constexpr std::int64_t greatest_bytes = std::int64_t{1} << 60;
constexpr std::size_t memory_classes = std::tuple_size_v<decltype(MemorySample::bytes)>;

void require(bool condition, const char* why) {
  if (!condition) throw Refusal{why};
}

std::int64_t within(std::int64_t value, std::int64_t least, std::int64_t greatest, const char* what) {
  if (value < least || value > greatest)
    throw Refusal{std::string(what) + " " + std::to_string(value) + " is out of range"};
  return value;
}

std::int64_t time_in_range(std::int64_t value) { return within(value, -greatest_time_ns, greatest_time_ns, "time"); }

template <class E>
E known(std::uint8_t value, E last) {
  if (value > static_cast<std::uint8_t>(last)) throw FromTheFuture{};
  return static_cast<E>(value);
}

std::string text_of(const flatbuffers::String* text) {
  if (!text) return {};
  const char* end = text->c_str() + text->size();
  for (const char* at = text->c_str(); at < end;)
    if (flatbuffers::FromUTF8(&at) < 0 || at > end) throw Refusal{"text is not UTF-8"};
  return {text->c_str(), end};
}

// Row i of a column whose length has been checked; overflow is refused.
class Column {
 public:
  Column(const wire::Column* column, std::size_t rows, std::int64_t least, std::int64_t greatest, const char* name)
      : least_(least), greatest_(greatest), name_(name) {
    if (!column) throw Refusal{std::string("column ") + name + " is missing"};
    base_ = column->base();
    if (column->narrow()) {
      if (column->narrow()->size() != rows) throw Refusal{std::string("column ") + name + " has another length"};
      narrow_ = column->narrow()->data();
    }
    if (column->wide()) {
      if (narrow_ || column->wide()->size() != rows)
        throw Refusal{std::string("column ") + name + " has another length"};
      wide_ = column->wide()->data();
    }
  }
  std::int64_t operator[](std::size_t i) const {
    std::int64_t value = base_;
    if (narrow_ &&
        __builtin_add_overflow(base_, static_cast<std::int64_t>(flatbuffers::EndianScalar(narrow_[i])), &value))
      throw Refusal{std::string(name_) + " overflows"};
    if (wide_ && __builtin_add_overflow(base_, flatbuffers::EndianScalar(wide_[i]), &value))
      throw Refusal{std::string(name_) + " overflows"};
    return within(value, least_, greatest_, name_);
  }

 private:
  std::int64_t base_ = 0, least_, greatest_;
  const std::uint32_t* narrow_ = nullptr;
  const std::int64_t* wide_ = nullptr;
  const char* name_;
};

// Kinds, purposes and segments unknown here may be a newer build's and are kept; a known kind that contradicts its
// purpose is damage.
OpId checked(std::uint64_t value, bool may_be_none) {
  const OpId op(value);
  if (op == OpId()) {
    require(may_be_none, "a row without an op");
    return op;
  }
  if (op.valid()) {
    const OpFields f = op.fields();
    require(is_communication(f.kind) == (f.purpose != Purpose::none), "an op id whose kind contradicts its purpose");
  }
  return op;
}

template <class Table>
std::size_t rows_of(const Table& table, const DecodeLimits& limits) {
  require(table.op() != nullptr, "a batch without op ids");
  require(table.op()->size() <= limits.rows, "a batch of too many rows");
  return table.op()->size();
}

Event read(const wire::Hello& t, const DecodeLimits& limits, Decoded&) {
  Hello e;
  e.title = text_of(t.title());
  e.scenario_toml = text_of(t.scenario_toml());
  e.ranks = static_cast<std::int32_t>(within(t.ranks(), 0, limits.ranks, "ranks"));
  e.communicator = text_of(t.communicator());
  e.device = text_of(t.device());
  e.host = text_of(t.host());
  e.started_utc = text_of(t.started_utc());
  e.steps = static_cast<std::int32_t>(within(t.steps(), 0, INT32_MAX, "steps"));
  e.headline = known(t.headline(), ClockDomain::device);
  e.entropy_nats = t.entropy_nats();
  e.peak_flops = t.peak_flops();
  return e;
}

std::int32_t rank_in_range(std::int64_t rank, const DecodeLimits& limits, std::int64_t least = 0) {
  return static_cast<std::int32_t>(within(rank, least, limits.ranks - 1, "rank"));
}

Event read(const wire::Program& t, const DecodeLimits& limits, Decoded&) {
  return ProgramRecord{rank_in_range(t.rank(), limits), t.hash(), text_of(t.text())};
}

Event read(const wire::Clock& t, const DecodeLimits& limits, Decoded&) {
  return ClockRecord{rank_in_range(t.rank(), limits), time_in_range(t.at_ns()), time_in_range(t.offset_ns()),
                     within(t.uncertainty_ns(), -1, greatest_time_ns, "uncertainty")};
}

Event read(const wire::End& t, const DecodeLimits& limits, Decoded&) {
  return End{rank_in_range(t.rank(), limits, -1), t.ok(), within(t.last_step(), -1, UINT32_MAX, "last step"),
             text_of(t.message()), t.in_communication()};
}

Event read(const wire::Summary& t, const DecodeLimits& limits, Decoded& decoded) {
  StepSummary e;
  e.rank = rank_in_range(t.rank(), limits);
  e.step = t.step();
  e.begin_ns = time_in_range(t.begin_ns());
  e.end_ns = within(t.end_ns(), e.begin_ns, greatest_time_ns, "end of a step");
  e.loss = t.loss();
  e.gradient_square_norm = t.gradient_square_norm();
  e.learning_rate = t.learning_rate();
  e.tokens = within(t.tokens(), 0, greatest_bytes, "tokens");
  e.model_flops = t.model_flops();
  e.hardware_flops = t.hardware_flops();
  if (const auto* peaks = t.peak_bytes()) {
    require(peaks->size() >= memory_classes, "too few memory classes");
    for (std::size_t k = 0; k < memory_classes; ++k)
      e.peak_bytes[k] = within(peaks->Get(static_cast<flatbuffers::uoffset_t>(k)), 0, greatest_bytes, "peak");
  }
  e.peak_total_bytes = within(t.peak_total_bytes(), 0, greatest_bytes, "peak");
  if (const auto* traffic = t.traffic()) {
    require(traffic->size() <= 256 * 256, "too many traffic rows");
    e.traffic.reserve(traffic->size());
    for (const wire::TrafficRow* row : *traffic) {
      if (row->purpose() >= purpose_count || row->kind() >= op_kind_count) {
        ++decoded.unknown_rows;
        continue;
      }
      e.traffic.push_back({static_cast<Purpose>(row->purpose()), static_cast<OpKind>(row->kind()),
                           within(row->count(), 0, greatest_bytes, "count"),
                           within(row->payload_bytes(), 0, greatest_bytes, "payload"),
                           within(row->wire_bytes(), -1, greatest_bytes, "wire bytes")});
    }
  }
  e.spans_emitted = within(t.spans_emitted(), 0, greatest_bytes, "spans emitted");
  e.spans_dropped = within(t.spans_dropped(), 0, greatest_bytes, "spans dropped");
  return e;
}

Event read(const wire::Spans& t, const DecodeLimits& limits, Decoded&) {
  SpanBatch e{known(t.obtained(), Obtained::simulated), known(t.clock(), ClockDomain::device), {}};
  const std::size_t rows = rows_of(t, limits);
  const Column rank(t.rank(), rows, 0, limits.ranks - 1, "rank"), step(t.step(), rows, 0, UINT32_MAX, "step"),
      begin(t.begin_ns(), rows, -greatest_time_ns, greatest_time_ns, "begin"),
      wait(t.wait_ns(), rows, 0, greatest_time_ns, "wait"), work(t.work_ns(), rows, 0, greatest_time_ns, "work"),
      cpu(t.cpu_ns(), rows, -1, greatest_time_ns, "cpu");
  e.spans.reserve(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    Span s;
    s.rank = static_cast<std::int32_t>(rank[i]);
    s.step = static_cast<std::uint32_t>(step[i]);
    s.op = checked(t.op()->Get(static_cast<flatbuffers::uoffset_t>(i)), false);
    s.begin_ns = begin[i];
    s.active_ns = time_in_range(s.begin_ns + wait[i]);
    s.end_ns = time_in_range(s.active_ns + work[i]);
    s.cpu_ns = cpu[i];
    e.spans.push_back(s);
  }
  return e;
}

Event read(const wire::Memory& t, const DecodeLimits& limits, Decoded&) {
  MemoryBatch e{known(t.obtained(), Obtained::simulated), known(t.clock(), ClockDomain::device), {}};
  const std::size_t rows = rows_of(t, limits);
  const Column rank(t.rank(), rows, 0, limits.ranks - 1, "rank"), step(t.step(), rows, 0, UINT32_MAX, "step"),
      time(t.time_ns(), rows, -greatest_time_ns, greatest_time_ns, "time");
  const auto bytes_column = [&](const wire::Column* c, const char* name) {
    return Column(c, rows, 0, greatest_bytes, name);
  };
  const std::array<Column, memory_classes> bytes{
      bytes_column(t.parameters(), "parameters"), bytes_column(t.gradients(), "gradients"),
      bytes_column(t.optimizer(), "optimizer"), bytes_column(t.activations(), "activations"),
      bytes_column(t.buffers(), "buffers")};
  e.samples.reserve(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    MemorySample s;
    s.rank = static_cast<std::int32_t>(rank[i]);
    s.step = static_cast<std::uint32_t>(step[i]);
    s.op = checked(t.op()->Get(static_cast<flatbuffers::uoffset_t>(i)), true);
    s.time_ns = time[i];
    for (std::size_t k = 0; k < memory_classes; ++k) s.bytes[k] = bytes[k][i];
    e.samples.push_back(s);
  }
  return e;
}

Event read(const wire::Phases& t, const DecodeLimits& limits, Decoded&) {
  PhaseBatch e{known(t.obtained(), Obtained::simulated), known(t.clock(), ClockDomain::device), {}};
  const std::size_t rows = rows_of(t, limits);
  const Column rank(t.rank(), rows, 0, limits.ranks - 1, "rank"), step(t.step(), rows, 0, UINT32_MAX, "step"),
      phase(t.phase(), rows, 0, INT32_MAX, "phase"), chunk(t.chunk(), rows, -1, INT32_MAX, "chunk"),
      from(t.from(), rows, 0, limits.ranks - 1, "from"), to(t.to(), rows, 0, limits.ranks - 1, "to"),
      bytes(t.bytes(), rows, 0, greatest_bytes, "bytes"),
      begin(t.begin_ns(), rows, -greatest_time_ns, greatest_time_ns, "begin"),
      length(t.length_ns(), rows, 0, greatest_time_ns, "length");
  e.phases.reserve(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    PhaseSpan p;
    p.rank = static_cast<std::int32_t>(rank[i]);
    p.step = static_cast<std::uint32_t>(step[i]);
    p.op = checked(t.op()->Get(static_cast<flatbuffers::uoffset_t>(i)), false);
    p.phase = static_cast<std::int32_t>(phase[i]);
    p.chunk = static_cast<std::int32_t>(chunk[i]);
    p.from = static_cast<std::int32_t>(from[i]);
    p.to = static_cast<std::int32_t>(to[i]);
    p.bytes = bytes[i];
    p.begin_ns = begin[i];
    p.end_ns = time_in_range(p.begin_ns + length[i]);
    e.phases.push_back(p);
  }
  return e;
}

Event read(const wire::Gap& t, const DecodeLimits& limits, Decoded&) {
  Gap e;
  e.rank = rank_in_range(t.rank(), limits, -1);
  e.begin_ns = time_in_range(t.begin_ns());
  e.end_ns = within(t.end_ns(), e.begin_ns, greatest_time_ns, "end of a gap");
  e.events = within(t.events(), 0, greatest_bytes, "events");
  e.first_sequence = t.first_sequence();
  e.last_sequence = t.last_sequence();
  require(e.first_sequence <= e.last_sequence, "a gap that ends before it begins");
  return e;
}

template <class Table>
Event read(const Table* table, const DecodeLimits& limits, Decoded& decoded) {
  require(table != nullptr, "no event");
  return read(*table, limits, decoded);
}

Event read_event(const wire::Message& m, const DecodeLimits& limits, Decoded& decoded) {
  switch (m.event_type()) {
    case wire::Event::NONE: throw Refusal{"no event"};
    case wire::Event::Hello: return read(m.event_as_Hello(), limits, decoded);
    case wire::Event::Program: return read(m.event_as_Program(), limits, decoded);
    case wire::Event::Clock: return read(m.event_as_Clock(), limits, decoded);
    case wire::Event::End: return read(m.event_as_End(), limits, decoded);
    case wire::Event::Summary: return read(m.event_as_Summary(), limits, decoded);
    case wire::Event::Spans: return read(m.event_as_Spans(), limits, decoded);
    case wire::Event::Memory: return read(m.event_as_Memory(), limits, decoded);
    case wire::Event::Phases: return read(m.event_as_Phases(), limits, decoded);
    case wire::Event::Gap: return read(m.event_as_Gap(), limits, decoded);
  }
  throw FromTheFuture{};
}

Decoded decode_aligned(const std::uint8_t* data, std::size_t size, const DecodeLimits& limits) {
  Decoded decoded;
  try {
    require(wire::MessageBufferHasIdentifier(data), "not a telemetry message");
    flatbuffers::Verifier verifier(data, size);
    require(wire::VerifyMessageBuffer(verifier), "damaged");
    const wire::Message& m = *wire::GetMessage(data);
    require(m.session() != nullptr, "no session id");
    decoded.message.session = from_wire(*m.session());
    decoded.message.rank = rank_in_range(m.rank(), limits, -1);
    decoded.message.sequence = m.sequence();
    decoded.message.control_sequence = m.control_sequence();
    decoded.message.event = read_event(m, limits, decoded);
    decoded.outcome = Decoded::Outcome::message;
  } catch (const Refusal& refusal) {
    decoded.error = refusal.why;
  } catch (const FromTheFuture&) {
    decoded.outcome = Decoded::Outcome::unknown;
  }
  return decoded;
}

constexpr std::size_t least_bytes = 16;  // root offset, identifier and the smallest table

// FlatBuffers reads scalars in place, so the buffer must lie as its writer's did; sockets and files promise nothing.
class Aligned {
 public:
  explicit Aligned(std::span<const std::byte> bytes) : data_(reinterpret_cast<const std::uint8_t*>(bytes.data())) {
    if (reinterpret_cast<std::uintptr_t>(data_) % alignof(std::uint64_t) == 0) return;
    copy_.resize((bytes.size() + 7) / 8);
    std::memcpy(copy_.data(), bytes.data(), bytes.size());
    data_ = reinterpret_cast<const std::uint8_t*>(copy_.data());
  }
  const std::uint8_t* data() const { return data_; }

 private:
  const std::uint8_t* data_;
  std::vector<std::uint64_t> copy_;
};

}  // namespace

Decoded decode(std::span<const std::byte> bytes, const DecodeLimits& limits) {
  Decoded refused;
  if (bytes.size() > limits.message_bytes) {
    refused.error = std::to_string(bytes.size()) + " bytes are more than a message may have";
    return refused;
  }
  if (bytes.size() < least_bytes) {
    refused.error = "too short";
    return refused;
  }
  const Aligned aligned(bytes);
  return decode_aligned(aligned.data(), bytes.size(), limits);
}

std::optional<Envelope> peek(std::span<const std::byte> bytes, const DecodeLimits& limits) {
  if (bytes.size() > limits.message_bytes || bytes.size() < least_bytes) return std::nullopt;
  const Aligned aligned(bytes);
  if (!wire::MessageBufferHasIdentifier(aligned.data())) return std::nullopt;
  flatbuffers::Verifier verifier(aligned.data(), bytes.size());
  if (!wire::VerifyMessageBuffer(verifier)) return std::nullopt;
  const wire::Message& m = *wire::GetMessage(aligned.data());
  if (!m.session() || m.rank() < -1 || m.rank() >= limits.ranks) return std::nullopt;
  return Envelope{from_wire(*m.session()), m.rank(), m.sequence()};
}

}  // namespace rankscope
