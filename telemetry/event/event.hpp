// The events that a run reports, as plain values. The wire form is event.fbs; the codec is codec.hpp.
//
// Three tiers. *Control* (hello, program, clock, end) and one *summary* per rank and step are reliable; *detail*
// (spans, memory, phases) is bounded: it may be dropped, and then it is counted. Times are nanoseconds since the
// session's start on the clock that the batch names.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/op/memory_class.hpp"
#include "engine/op/op_id.hpp"

namespace rankscope {

/// How an event was obtained; shown everywhere. That it is *replayed* is a property of the source, not of the event.
enum class Obtained : std::uint8_t { measured, emulated, simulated };
/// wall: what happened, by a monotonic clock. device: as if each rank had its own device and links.
enum class ClockDomain : std::uint8_t { wall, device };
std::string_view name_of(Obtained obtained);
std::optional<Obtained> obtained_named(std::string_view name);
std::string_view name_of(ClockDomain clock);

/// One op, run once; begin <= active <= end. The id may be of a kind that a newer build added: see op.valid(). [begin,
/// active) is waiting for a peer, [active, end) is work; active == begin for compute, and if the transport does not
/// report it.
struct Span {
  std::int32_t rank = 0;
  std::uint32_t step = 0;
  OpId op;
  std::int64_t begin_ns = 0, active_ns = 0, end_ns = 0;
  std::int64_t cpu_ns = -1;  ///< CPU time of the thread; -1 unknown
  bool operator==(const Span&) const = default;
};

/// Bytes alive from this time on, because of this op.
struct MemorySample {
  std::int32_t rank = 0;
  std::uint32_t step = 0;
  OpId op;
  std::int64_t time_ns = 0;
  ClassBytes bytes{};
  bool operator==(const MemorySample&) const = default;
};

/// One transfer inside a transparent collective, or a phase reported by a library: `chunk` is then a channel,
/// phase 0 the channel's part of the kernel, and phase s + 1 its transfer s over the network. From a rank to itself:
/// all that it gives to the op, whose transfers are not known (of an imported run).
struct PhaseSpan {
  std::int32_t rank = 0;
  std::uint32_t step = 0;
  OpId op;
  std::int32_t phase = 0, chunk = 0;
  std::int32_t from = 0, to = 0;                     ///< -1: unknown
  std::int64_t bytes = 0, begin_ns = 0, end_ns = 0;  ///< bytes -1: unknown
  bool is_given() const { return from >= 0 && from == to; }
  bool operator==(const PhaseSpan&) const = default;
};

/// Bytes one rank moved in a step for one purpose by one kind of op.
struct TrafficRow {
  Purpose purpose = Purpose::none;
  OpKind kind = OpKind::send;
  std::int64_t count = 0;
  std::int64_t payload_bytes = 0;     ///< -1: unknown (of an imported run)
  std::int64_t wire_bytes = -1;       ///< sent, counted at the transport; -1 if it can't be counted
  GroupKind group = GroupKind::self;  ///< of a collective; self for other ops, and in recordings without it
  bool operator==(const TrafficRow&) const = default;
};

/// Bytes that one rank sent another in a step, counted at the transport.
struct SentBytes {
  std::int32_t to = 0;
  std::int64_t bytes = 0;
  bool operator==(const SentBytes&) const = default;
};

/// The counter of a device's energy.
enum class PowerSource : std::uint8_t {
  none,  ///< nothing
  nvml,  ///< one GPU: its board with the memory
  rapl,  ///< the host's processors, and their memory if it is counted: of all processes on the host
};
std::string_view name_of(PowerSource source);

/// One rank's step: under 1 KB on the wire, never dropped. Enough for training curves, scaling, the grid and --json.
struct StepSummary {
  std::int32_t rank = 0;
  std::uint32_t step = 0;
  /// From the first begin to the last end of its compute lane's ops (of its server lane's, if it has no compute lane),
  /// and to the last end of its host's; on the wall clock.
  std::int64_t begin_ns = 0, end_ns = 0;
  double loss = std::numeric_limits<double>::quiet_NaN();  ///< mean nats per token of this rank's samples; NaN where it
                                                           ///< has no head
  double gradient_square_norm = 0;  ///< this rank's part of the global norm, each parameter counted once over all ranks
  double learning_rate = 0;
  std::int64_t tokens = 0;            ///< of this rank's samples, counted on the last stage only
  double model_flops = 0;             ///< this rank's part of the step's FLOPs without recomputation
  double hardware_flops = 0;          ///< with it
  ClassBytes peak_bytes{};            ///< each memory class's own peak
  std::int64_t peak_total_bytes = 0;  ///< of the device's sum
  std::vector<TrafficRow> traffic;
  std::int64_t spans_emitted = 0, spans_dropped = 0;
  std::vector<SentBytes> sent;  ///< by receiving rank; empty if there is no space (has_room_for)
  double loss_scale = 0;        ///< fp16: what the step's loss was multiplied by; 0 without loss scaling
  /// Joules that the rank's device has used since the previous step. If ranks share a GPU or a host's processors, the
  /// first of these ranks reports them and the others report 0, so that the sum over ranks is the run's. Empty if the
  /// device has no readable counter.
  std::optional<double> energy_joules;
  PowerSource energy_source = PowerSource::none;  ///< of what it counted; none: it did not count
  /// Elements of this rank's gradients, multiplied by the loss scale, by magnitude: the bins of
  /// kernels/tensor/magnitude.hpp. Empty in steps that do not count them.
  std::vector<std::uint32_t> magnitudes;
  /// The loss was computed, and is infinite or not a number: a `loss` of NaN alone may be one that is not known.
  bool loss_not_finite = false;
  bool operator==(const StepSummary&) const = default;
};

inline constexpr std::size_t most_magnitudes = 256;

/// Whether a summary with this number of traffic rows and links stays under 1 KB; otherwise it has no links.
/// Magnitudes add a quarter of a KB, in steps that count them.
constexpr bool has_room_for(std::size_t links, std::size_t traffic_rows) { return links + 2 * traffic_rows <= 42; }

/// A peak with at most this spread is steady enough to divide other figures by it (Hello::peak_spread).
inline constexpr double steady_peak_spread = 0.01;

/// The first message of a session.
struct Hello {
  std::string title;
  std::string scenario_toml;
  std::int32_t ranks = 0;
  std::string communicator, device, host;
  std::string started_utc;  ///< ISO 8601
  std::int32_t steps = 0;
  ClockDomain headline = ClockDomain::wall;                        ///< the clock whose numbers are the run's headline
  double entropy_nats = std::numeric_limits<double>::quiet_NaN();  ///< lower bound of the loss, if known
  double peak_flops = 0;                                           ///< of one device, for MFU; 0 unknown
  std::string energy_unknown;  ///< why rank 0's energy has no counter; empty if it has one, or unknown
  double memory_bandwidth = 0;  ///< bytes per second that a device reads and writes in large copies; 0 unknown
  double peak_spread = 0;       ///< of the products that peak_flops is the best of, relative; 0 unknown
  bool operator==(const Hello&) const = default;
};

/// A rank's program in its text form; an event's op is joined to it.
struct ProgramRecord {
  std::int32_t rank = 0;
  std::uint64_t hash = 0;
  std::string text;
  bool operator==(const ProgramRecord&) const = default;
};

/// The fit of one rank's clock to rank 0's: corrected = raw + offset. Stamps stay raw; this record may be revised.
struct ClockRecord {
  std::int32_t rank = 0;
  std::int64_t at_ns = 0;
  std::int64_t offset_ns = 0, uncertainty_ns = 0;
  bool operator==(const ClockRecord&) const = default;
};

/// The end of one rank, or (rank -1) of the complete session.
struct End {
  std::int32_t rank = -1;
  bool ok = true;
  std::int64_t last_step = -1;  ///< the last one finished
  std::string message;
  bool in_communication = false;  ///< it failed while communicating with other ranks: one of them may be the cause
  std::int32_t failed_rank = -1;  ///< of the session's: the rank that died or failed first; -1: none, or unknown
  bool operator==(const End&) const = default;
};

/// Detail of one kind, all obtained in the same way and on the same clock.
template <class Row>
struct Batch {
  Obtained obtained = Obtained::measured;
  ClockDomain clock = ClockDomain::wall;
  std::vector<Row> rows;
  bool operator==(const Batch&) const = default;
};
using SpanBatch = Batch<Span>;
using MemoryBatch = Batch<MemorySample>;
using PhaseBatch = Batch<PhaseSpan>;

/// Detail of one rank that was produced but is missing: drawn as unknown, never as idle.
struct Gap {
  std::int32_t rank = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t events = 0;
  /// The missing messages of that rank, both included: if they arrive late, the gap is filled. 0, 0: the events were
  /// dropped before they had a number, so nothing can fill it.
  std::uint64_t first_sequence = 0, last_sequence = 0;
  bool operator==(const Gap&) const = default;
};

using Event =
    std::variant<Hello, ProgramRecord, ClockRecord, End, StepSummary, SpanBatch, MemoryBatch, PhaseBatch, Gap>;
bool is_control(const Event& event);  ///< hello, program, clock, end: reliable; summaries are reliable too
bool is_reliable(const Event& event);

using SessionId = std::array<std::uint8_t, 16>;

/// One message on the socket, in a spool or in a trace.
struct Message {
  SessionId session{};
  std::int32_t rank = 0;               ///< who sent it; -1 the supervisor
  std::uint64_t sequence = 0;          ///< of this sender over all its messages, from 1; a hole is a loss
  std::uint64_t control_sequence = 0;  ///< control messages of this sender so far, itself included if it is one
  Event event;
  bool operator==(const Message&) const = default;
};

class EncodedMessage;

/// Receives events: recording, streaming, stores and analysis are listeners of one source.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void accept(const Message& message) = 0;
  /// The same from its wire form (encoded.hpp), for forwarding or partial reading. Its outcome is `message`.
  virtual void accept_encoded(const EncodedMessage& message);
  /// Called periodically by a live source, also while no message arrives.
  virtual void tick() {}
};

}  // namespace rankscope
