#include "telemetry/cli/replayer.hpp"

#include <algorithm>
#include <optional>
#include <thread>

#include "telemetry/event/codec.hpp"
#include "telemetry/event/message_time.hpp"
#include "telemetry/stream/uplink.hpp"
#include "telemetry/trace/fitted_times.hpp"

namespace rankscope {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t most_waiting = 256;  // messages between this program and the relay
constexpr std::size_t least_ring_bytes = std::size_t{64} << 20, most_ring_bytes = std::size_t{2} << 30;
constexpr auto viewers_limit = 30s;  // the time a viewer has to receive everything
// Numbers for messages recorded without one (gaps that a reader found): above any that a sender reaches.
constexpr std::uint64_t spare_numbers = std::uint64_t{1} << 48;

struct Stopped {};

// When a message was sent in the run, if known: the end of the reported time on the wall clock.
std::optional<std::int64_t> due_ns(const Event& event) {
  if (const auto* spans = std::get_if<SpanBatch>(&event); spans && spans->clock != ClockDomain::wall)
    return std::nullopt;
  if (const auto* memory = std::get_if<MemoryBatch>(&event); memory && memory->clock != ClockDomain::wall)
    return std::nullopt;
  if (const auto* phases = std::get_if<PhaseBatch>(&event); phases && phases->clock != ClockDomain::wall)
    return std::nullopt;
  if (std::holds_alternative<ClockRecord>(event) || std::holds_alternative<Gap>(event)) return std::nullopt;
  const auto time = time_of(event);
  return time ? std::optional(time->end_ns) : std::nullopt;
}

class Sender : public EventSink {
 public:
  Sender(Uplink& uplink, const ReplayOptions& options, ClockOffsets offsets)
      : uplink_(uplink), options_(options), offsets_(std::move(offsets)) {}

  void accept(const Message& message) override {
    if (options_.speed > 0)
      if (const auto due = due_ns(message.event)) wait_until(*due + offset_of(offsets_, message.rank, message.event));
    while (uplink_.anything_waiting() >= most_waiting) turn();
    if (message.sequence == 0) {
      Message numbered = message;
      numbered.rank = -1;
      numbered.sequence = spare_numbers + ++spare_;
      uplink_.offer({encode(numbered), is_reliable(message.event), std::nullopt});
    } else {
      uplink_.offer({encode(message), is_reliable(message.event), std::nullopt});
    }
    ++messages_;
    uplink_.turn();
  }
  void drain() {
    while (uplink_.anything_waiting() > 0) turn();
  }
  std::int64_t messages() const { return messages_; }

 private:
  void wait_until(std::int64_t due) {
    if (!begun_) {
      begun_ = Clock::now();
      first_ns_ = due;
    }
    const auto at = *begun_ + std::chrono::nanoseconds(
                                  static_cast<std::int64_t>(static_cast<double>(due - first_ns_) / options_.speed));
    while (Clock::now() < at) turn(std::min<Clock::duration>(at - Clock::now(), 2ms));
  }
  void turn(Clock::duration pause = 500us) {
    if (options_.stop && *options_.stop) throw Stopped{};
    uplink_.turn();
    std::this_thread::sleep_for(pause);
  }

  Uplink& uplink_;
  const ReplayOptions& options_;
  const ClockOffsets offsets_;
  std::optional<Clock::time_point> begun_;
  std::int64_t first_ns_ = 0, messages_ = 0;
  std::uint64_t spare_ = 0;
};

// The session of a trace: its first message's.
SessionId session_of(const std::string& path) {
  struct First : EventSink {
    std::optional<SessionId> session;
    void accept(const Message& message) override {
      if (!session) session = message.session;
    }
  } first;
  ReadTraceOptions options;
  options.threads = 1;
  options.progress = [&](double) { return !first.session; };
  read_trace(path, first, options);
  if (!first.session) throw TraceError(path + ": contains no messages to replay");
  return *first.session;
}

}  // namespace

ReplayResult replay(const std::string& path, const ReplayOptions& options) {
  ReplayResult result;
  const SessionId session = session_of(path);
  const TraceInfo info = read_trace_info(path);
  RelayOptions relay_options = options.relay;
  relay_options.session = session;
  // There are no spools, so late viewers are served from the ring.
  relay_options.ring_bytes =
      std::clamp(static_cast<std::size_t>(info.data_bytes) * 5 / 4, least_ring_bytes, most_ring_bytes);
  // A hole in the recording has its own gap in it, or cannot be filled.
  relay_options.hole_limit = std::chrono::hours(24 * 365);
  Relay relay(relay_options);
  if (options.started) options.started(relay);
  const auto stopped = [&] { return options.stop && *options.stop; };
  while (relay.status().viewers < options.wait_for_viewers && !stopped()) std::this_thread::sleep_for(20ms);

  UplinkOptions uplink_options;
  uplink_options.session = session;
  uplink_options.relay = relay.worker_join(options.worker, "127.0.0.1");
  uplink_options.detail_bytes = most_ring_bytes;  // accept() waits instead
  const auto begun = Clock::now();
  Uplink uplink(uplink_options);
  Sender sender(uplink, options, options.speed > 0 ? clock_offsets(path) : ClockOffsets{});
  try {
    read_trace(path, sender, {}, &result.damage);
    sender.drain();
    result.finished = relay.finish(viewers_limit);
    while (options.stay && !stopped()) std::this_thread::sleep_for(50ms);
  } catch (const Stopped&) {
  }
  result.messages = sender.messages();
  result.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  return result;
}

}  // namespace rankscope
