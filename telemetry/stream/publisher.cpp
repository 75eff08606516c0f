#include "telemetry/stream/publisher.hpp"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <deque>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "telemetry/event/codec.hpp"
#include "telemetry/stream/spool.hpp"
#include "telemetry/stream/uplink.hpp"

namespace rankscope {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto gather_words = std::chrono::milliseconds(10);
constexpr auto closing_period = std::chrono::milliseconds(2);  // between two looks at the relay while closing
constexpr std::size_t gap_rows = 64;

// Why the publisher's bell rings, beside LaneWriter::ring_filled.
constexpr unsigned said = 2, closing_begun = 4;

double thread_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

bool sensible(const Span& s) {
  return s.begin_ns <= s.active_ns && s.active_ns <= s.end_ns && s.rank >= 0 && s.op != OpId();
}
bool sensible(const PhaseSpan& p) {
  return p.begin_ns <= p.end_ns && p.rank >= 0 && p.from >= 0 && p.to >= 0 && p.phase >= 0 && p.bytes >= 0 &&
         p.op != OpId();
}
bool sensible(const MemorySample& m) {
  return m.rank >= 0 && std::all_of(m.bytes.begin(), m.bytes.end(), [](std::int64_t b) { return b >= 0; });
}

std::vector<Span>& rows(SpanBatch& batch) { return batch.spans; }
std::vector<MemorySample>& rows(MemoryBatch& batch) { return batch.samples; }
std::vector<PhaseSpan>& rows(PhaseBatch& batch) { return batch.phases; }

const std::vector<Span>& rows(const SpanBatch& batch) { return batch.spans; }
const std::vector<MemorySample>& rows(const MemoryBatch& batch) { return batch.samples; }
const std::vector<PhaseSpan>& rows(const PhaseBatch& batch) { return batch.phases; }

std::int64_t end_of(const Span& s) { return s.end_ns; }
std::int64_t end_of(const MemorySample& m) { return m.time_ns; }
std::int64_t end_of(const PhaseSpan& p) { return p.end_ns; }

// Leaves out the rows of steps that are not kept; the number of those that stay.
std::size_t keep_wanted(Event& event, std::uint32_t every) {
  return std::visit(
      [&](auto& batch) -> std::size_t {
        using Batch = std::decay_t<decltype(batch)>;
        if constexpr (std::is_same_v<Batch, SpanBatch> || std::is_same_v<Batch, MemoryBatch> ||
                      std::is_same_v<Batch, PhaseBatch>) {
          if (every > 1) std::erase_if(rows(batch), [&](const auto& row) { return row.step % every != 0; });
          return rows(batch).size();
        }
        return 0;
      },
      event);
}

}  // namespace

std::optional<KeepPolicy> parse_keep(std::string_view text, std::string* error) {
  const auto fail = [&]() -> std::optional<KeepPolicy> {
    if (error)
      *error = "'" + std::string(text) +
               "' is no way to keep detail; it should be all, every:N (steps) or last:TIME, as in last:30s";
    return std::nullopt;
  };
  KeepPolicy keep;
  if (text == "all") return keep;
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return fail();
  const std::string_view word = text.substr(0, colon), value = text.substr(colon + 1);
  std::uint32_t number = 0;
  const auto [end, bad] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (bad != std::errc{} || number == 0) return fail();
  const std::string_view unit = value.substr(static_cast<std::size_t>(end - value.data()));
  if (word == "every" && unit.empty()) {
    keep.every = number;
    return keep;
  }
  if (word != "last") return fail();
  constexpr std::pair<std::string_view, std::int64_t> units[] = {{"ns", 1},
                                                                 {"us", 1'000},
                                                                 {"ms", 1'000'000},
                                                                 {"s", 1'000'000'000},
                                                                 {"min", 60'000'000'000},
                                                                 {"h", 3'600'000'000'000}};
  for (const auto& [name, ns] : units)
    if (unit == name && number <= std::numeric_limits<std::int64_t>::max() / ns) {
      keep.last = std::chrono::nanoseconds(number * ns);
      return keep;
    }
  return fail();
}

// ---- LaneWriter

LaneWriter::LaneWriter(std::int32_t rank, Obtained obtained, ClockDomain clock, std::uint32_t every,
                       std::size_t ring_rows, Bell& bell)
    : rank_(rank),
      obtained_(obtained),
      clock_(clock),
      every_(std::max<std::uint32_t>(every, 1)),
      bell_(bell),
      spans_(ring_rows),
      phases_(ring_rows),
      memory_(ring_rows),
      gaps_(gap_rows) {}

void LaneWriter::drop(std::int64_t begin_ns, std::int64_t end_ns) {
  end_ns = std::max(begin_ns, end_ns);
  pending_.begin_ns = pending_.events == 0 ? begin_ns : std::min(pending_.begin_ns, begin_ns);
  pending_.end_ns = pending_.events == 0 ? end_ns : std::max(pending_.end_ns, end_ns);
  ++pending_.events;
  dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void LaneWriter::tell_gap() {
  pending_.rank = rank_;
  if (gaps_.push(pending_)) pending_ = {};
}

// ---- Publisher

struct Publisher::State {
  struct Queued {
    std::int32_t rank;
    Event event;
  };
  using OpenBatches = std::tuple<SpanBatch, MemoryBatch, PhaseBatch>;
  struct RankStream {
    std::uint64_t sequence = 0, control_sequence = 0;
    std::unique_ptr<SpoolWriter> spool;
    // Detail under way in this turn, by how it was obtained and on which clock.
    std::map<std::pair<Obtained, ClockDomain>, OpenBatches> open;
  };
  struct Formed {
    std::int32_t rank;
    Uplink::Outgoing message;
  };

  explicit State(PublisherOptions given) : options(std::move(given)) {
    if (!options.spool_directory.empty()) {
      std::error_code ignored;  // a directory that cannot be made shows when the first spool is opened
      std::filesystem::create_directories(std::filesystem::path(options.spool_directory).parent_path(), ignored);
      mkdir(options.spool_directory.c_str(), 0700);
    }
    if (!options.relay.endpoint.empty())
      uplink = std::make_unique<Uplink>(UplinkOptions{.session = options.session,
                                                      .relay = options.relay,
                                                      .reliable_messages = options.reliable_messages,
                                                      .silence_limit = options.silence_limit});
  }

  const PublisherOptions options;

  mutable std::mutex mutex;  // of what follows; held for moments only
  Bell bell;
  std::vector<std::unique_ptr<LaneWriter>> lanes;
  std::map<std::tuple<std::int32_t, Lane, Obtained, ClockDomain>, LaneWriter*> lane_of;
  std::deque<Queued> reliable, detail;
  std::map<std::int32_t, Counts> batch_counts;  // rows given to detail()
  PublisherStatus status;
  bool closing = false, closed = false;
  Clock::time_point close_deadline{};

  // The background thread's own.
  std::unique_ptr<Uplink> uplink;
  std::map<std::int32_t, RankStream> ranks;
  std::vector<Formed> formed;
  std::int64_t malformed = 0, accepted = 0, messages = 0, bytes = 0, spool_lost = 0;
  std::thread thread;

  RankStream& stream_of(std::int32_t rank) {
    RankStream& stream = ranks[rank];
    if (!stream.spool && !options.spool_directory.empty())
      stream.spool = std::make_unique<SpoolWriter>(SpoolOptions{options.spool_directory, options.keep.last},
                                                   options.session, rank);
    return stream;
  }

  void emit(std::int32_t rank, Event event) {
    RankStream& stream = stream_of(rank);
    const bool reliable_event = is_reliable(event);
    if (is_control(event)) ++stream.control_sequence;
    Message message{options.session, rank, ++stream.sequence, stream.control_sequence, std::move(event)};
    Formed out{rank, {encode(message), reliable_event, std::nullopt}};
    ++messages;
    bytes += static_cast<std::int64_t>(out.message.bytes.size());
    if (stream.spool) out.message.position = stream.spool->append(out.message.bytes, reliable_event);
    formed.push_back(std::move(out));
  }

  template <class Batch>
  void emit_open(std::int32_t rank, Batch& batch) {
    if (rows(batch).empty()) return;
    accepted += static_cast<std::int64_t>(rows(batch).size());
    Batch out{batch.obtained, batch.clock, {}};
    std::swap(rows(out), rows(batch));
    emit(rank, std::move(out));
  }

  template <class Batch, class Row>
  void add(std::int32_t rank, Batch& batch, const Row& row) {
    if (!sensible(row)) {
      ++malformed;
      return;
    }
    rows(batch).push_back(row);
    if (rows(batch).size() >= options.batch_rows) emit_open(rank, batch);
  }

  OpenBatches& open_batches(std::int32_t rank, Obtained obtained, ClockDomain clock) {
    OpenBatches& open = stream_of(rank).open[{obtained, clock}];
    std::apply([&](auto&... batch) { ((batch.obtained = obtained, batch.clock = clock), ...); }, open);
    return open;
  }

  void drain(LaneWriter& lane, bool last) {
    OpenBatches& open = open_batches(lane.rank_, lane.obtained_, lane.clock_);
    const auto take = [&](auto& ring, auto& batch) {
      ring.drain(ring.capacity(), [&](const auto& row) {
        lane.latest_ns_ = std::max(lane.latest_ns_, end_of(row));
        add(lane.rank_, batch, row);
      });
    };
    take(lane.spans_, std::get<SpanBatch>(open));
    take(lane.memory_, std::get<MemoryBatch>(open));
    take(lane.phases_, std::get<PhaseBatch>(open));
    lane.gaps_.drain(lane.gaps_.capacity(), [&](const Gap& gap) {
      lane.told_ += gap.events;
      emit(lane.rank_, gap);
    });
    // Drops that no later row of the lane came to report.
    if (const std::int64_t untold = lane.dropped() - lane.told_; last && untold > 0)
      emit(lane.rank_, Gap{lane.rank_, lane.latest_ns_, lane.latest_ns_, untold});
  }

  void take_batch(std::int32_t rank, const Event& event) {
    std::visit(
        [&](const auto& batch) {
          using Batch = std::decay_t<decltype(batch)>;
          if constexpr (std::is_same_v<Batch, SpanBatch> || std::is_same_v<Batch, MemoryBatch> ||
                        std::is_same_v<Batch, PhaseBatch>) {
            Batch& open = std::get<Batch>(open_batches(rank, batch.obtained, batch.clock));
            for (const auto& row : rows(batch)) add(rank, open, row);
          }
        },
        event);
  }

  // Control and summaries, but for the ranks' ends, which follow their detail.
  void words() {
    std::deque<Queued> control;
    {
      const std::lock_guard lock(mutex);
      const auto ends = std::stable_partition(reliable.begin(), reliable.end(), [](const Queued& queued) {
        return !std::holds_alternative<End>(queued.event);
      });
      std::move(reliable.begin(), ends, std::back_inserter(control));
      reliable.erase(reliable.begin(), ends);
    }
    for (Queued& queued : control) emit(queued.rank, std::move(queued.event));
    hand_over();
  }

  void turn(bool last) {
    std::deque<Queued> control, batches;
    std::vector<LaneWriter*> writers;
    {
      const std::lock_guard lock(mutex);
      control.swap(reliable);
      batches.swap(detail);
      for (const auto& lane : lanes) writers.push_back(lane.get());
    }
    // What is not an end goes first, since detail builds on it.
    for (Queued& queued : control)
      if (!std::holds_alternative<End>(queued.event)) emit(queued.rank, std::move(queued.event));
    for (LaneWriter* writer : writers) drain(*writer, last);
    for (const Queued& queued : batches) take_batch(queued.rank, queued.event);
    for (auto& [rank, stream] : ranks)
      for (auto& [key, open] : stream.open)
        std::apply([&, rank = rank](auto&... batch) { (emit_open(rank, batch), ...); }, open);
    for (Queued& queued : control)
      if (std::holds_alternative<End>(queued.event)) emit(queued.rank, std::move(queued.event));
    hand_over();
  }

  // What was formed, to disk and relay.
  void hand_over() {
    std::int64_t lost = 0;
    std::string trouble;
    for (auto& [rank, stream] : ranks) {
      if (!stream.spool) continue;
      stream.spool->flush();
      lost += stream.spool->messages_lost();
      if (!stream.spool->error().empty()) trouble = stream.spool->error();
    }
    spool_lost = lost;
    if (uplink) {
      for (Formed& out : formed) uplink->offer(std::move(out.message));
      uplink->turn();
    }
    formed.clear();
    report(trouble);
  }

  void report(const std::string& trouble) {
    const std::lock_guard lock(mutex);
    status.events = accepted;
    status.malformed_events = malformed;
    status.messages = messages;
    status.bytes = bytes;
    status.spool_lost = spool_lost;
    if (!trouble.empty() && trouble != status.spool_error && options.warn) options.warn(trouble);
    status.spool_error = trouble;
    status.thread_seconds = thread_cpu_seconds();
    if (!uplink) return;
    status.sent = uplink->sent();
    status.unsent_detail = uplink->unsent_detail();
    status.waiting = static_cast<std::int64_t>(uplink->reliable_waiting());
    status.connected = uplink->connected();
    uplink_lost = uplink->reliable_lost();
  }
  std::int64_t uplink_lost = 0;

  void run() {
    auto drained = Clock::now();
    for (;;) {
      const unsigned why = bell.wait(std::max(drained + options.period - Clock::now(), Clock::duration::zero()));
      bool last = false;
      {
        const std::lock_guard lock(mutex);
        last = closing;
      }
      if (why == said && !last && Clock::now() < drained + options.period) {
        // All ranks of the process finish a step at about one time.
        std::this_thread::sleep_for(std::min(gather_words, options.period));
        words();
        continue;
      }
      turn(last);
      drained = Clock::now();
      if (!last) continue;
      // What lanes wrote before close() is drained; now the relay's turn, as long as the limit lasts.
      while (uplink && uplink->anything_waiting() > 0 && Clock::now() < close_deadline) {
        std::this_thread::sleep_for(closing_period);
        uplink->turn();
      }
      report({});
      return;
    }
  }
};

Publisher::Publisher(PublisherOptions options) {
  state_ = std::make_unique<State>(std::move(options));
  state_->thread = std::thread([s = state_.get()] { s->run(); });
}

Publisher::~Publisher() { close(state_->options.close_limit); }

LaneWriter& Publisher::lane(std::int32_t rank, Lane lane, Obtained obtained, ClockDomain clock) {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  LaneWriter*& writer = s.lane_of[{rank, lane, obtained, clock}];
  if (!writer) {
    s.lanes.push_back(
        std::make_unique<LaneWriter>(rank, obtained, clock, s.options.keep.every, s.options.ring_rows, s.bell));
    writer = s.lanes.back().get();
  }
  return *writer;
}

bool Publisher::control(std::int32_t rank, Event event) {
  assert(is_reliable(event));
  State& s = *state_;
  {
    const std::lock_guard lock(s.mutex);
    if (s.closing || s.reliable.size() >= s.options.reliable_messages) {
      ++s.status.reliable_lost;
      return false;
    }
    s.reliable.push_back({rank, std::move(event)});
  }
  s.bell.ring(said);
  return true;
}

bool Publisher::summary(const StepSummary& summary) { return control(summary.rank, summary); }

bool Publisher::detail(std::int32_t rank, Event batch) {
  assert(!is_reliable(batch));
  State& s = *state_;
  const auto count = static_cast<std::int64_t>(keep_wanted(batch, s.options.keep.every));
  if (count == 0) return true;
  const std::lock_guard lock(s.mutex);
  if (s.closing || s.detail.size() >= s.options.detail_messages) {
    s.batch_counts[rank].dropped += count;
    return false;
  }
  s.batch_counts[rank].emitted += count;
  s.detail.push_back({rank, std::move(batch)});
  return true;
}

Publisher::Counts Publisher::counts(std::int32_t rank) const {
  const State& s = *state_;
  const std::lock_guard lock(s.mutex);
  Counts sum;
  if (const auto found = s.batch_counts.find(rank); found != s.batch_counts.end()) sum = found->second;
  for (const auto& lane : s.lanes) {
    if (lane->rank_ != rank) continue;
    sum.emitted += lane->emitted();
    sum.dropped += lane->dropped();
  }
  return sum;
}

PublisherStatus Publisher::status() const {
  const State& s = *state_;
  const std::lock_guard lock(s.mutex);
  PublisherStatus status = s.status;
  status.reliable_lost += s.uplink_lost;
  status.dropped_events += status.malformed_events;
  for (const auto& [rank, counts] : s.batch_counts) status.dropped_events += counts.dropped;
  for (const auto& lane : s.lanes) status.dropped_events += lane->dropped();
  return status;
}

bool Publisher::close(std::chrono::milliseconds limit) {
  State& s = *state_;
  {
    const std::lock_guard lock(s.mutex);
    s.closing = true;
    s.close_deadline = Clock::now() + limit;
  }
  s.bell.ring(closing_begun);
  if (s.thread.joinable()) s.thread.join();
  return !s.uplink || s.uplink->reliable_waiting() == 0;
}

}  // namespace rankscope
