#include "telemetry/stream/publisher.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

#include "engine/base/host/clock.hpp"
#include "engine/base/host/threads.hpp"
#include "telemetry/event/message_time.hpp"
#include "telemetry/stream/batch_former.hpp"
#include "telemetry/stream/uplink.hpp"

namespace rankscope {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto gather_words = std::chrono::milliseconds(25);   // a process's ranks finish a step at about the same time
constexpr auto closing_period = std::chrono::milliseconds(2);  // between two polls of the relay while closing

// The publisher's reasons to ring the bell, in addition to LaneWriter::ring_filled.
constexpr unsigned message_queued = 2, closing_begun = 4, detail_gathered = 8;

// Removes the rows of steps that are not kept; returns the number of remaining rows.
std::size_t keep_requested(Event& event, std::uint32_t every) {
  return std::visit(
      [every](auto& e) -> std::size_t {
        if constexpr (IsBatch<decltype(e)>) {
          if (every > 1) std::erase_if(e.rows, [&](const auto& row) { return row.step % every != 0; });
          return e.rows.size();
        } else {
          return 0;
        }
      },
      event);
}

BatchFormerOptions former_options(const PublisherOptions& options) {
  return {options.session, options.spool_directory, options.keep.last, options.batch_rows,
          !options.relay.endpoint.empty()};
}

}  // namespace

struct Publisher::State {
  struct Queued {
    std::int32_t rank;
    Event event;
  };

  explicit State(PublisherOptions given) : options(std::move(given)), former(former_options(options)) {
    if (!options.spool_directory.empty()) {
      std::error_code ignored;  // if the directory cannot be created, opening the first spool reports it
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

  mutable std::mutex mutex;  // for the members below; held only briefly
  Bell bell;
  std::vector<std::unique_ptr<LaneWriter>> lanes;
  std::map<std::tuple<std::int32_t, Lane, Obtained, ClockDomain>, LaneWriter*> lane_of;
  std::deque<Queued> reliable, detail;
  std::map<std::int32_t, Counts> batch_counts;  // rows passed to detail()
  PublisherStatus status;
  bool closing = false;
  Clock::time_point close_deadline{};
  std::int64_t uplink_lost = 0;

  // Used only by the background thread.
  BatchFormer former;
  std::unique_ptr<Uplink> uplink;
  std::thread thread;

  // Sends control and summaries, without the ranks' ends, which follow their detail. Summaries alone are safe in the
  // spool and go to the relay with the next detail: each message to it wakes four threads.
  void words() {
    std::deque<Queued> words;
    {
      const std::lock_guard lock(mutex);
      const auto ends = std::stable_partition(reliable.begin(), reliable.end(), [](const Queued& queued) {
        return !std::holds_alternative<End>(queued.event);
      });
      std::move(reliable.begin(), ends, std::back_inserter(words));
      reliable.erase(reliable.begin(), ends);
    }
    Haste haste = options.spool_directory.empty() ? Haste::now : Haste::none;
    for (Queued& queued : words) {
      if (is_control(queued.event)) haste = Haste::now;
      former.append(queued.rank, std::move(queued.event));
    }
    hand_over(haste);
  }

  void turn(bool last) {
    std::deque<Queued> words, batches;
    std::vector<LaneWriter*> writers;
    {
      const std::lock_guard lock(mutex);
      words.swap(reliable);
      batches.swap(detail);
      for (const auto& lane : lanes) writers.push_back(lane.get());
    }
    // Messages other than ends are sent first, since detail depends on them.
    for (Queued& queued : words)
      if (!std::holds_alternative<End>(queued.event)) former.append(queued.rank, std::move(queued.event));
    for (LaneWriter* writer : writers) former.drain(*writer, last);
    for (Queued& queued : batches) former.add(queued.rank, std::move(queued.event));
    former.close_batches();
    Haste haste = last || options.spool_directory.empty() ? Haste::now : Haste::if_watched;
    for (Queued& queued : words) {
      if (is_control(queued.event)) haste = Haste::now;
      if (std::holds_alternative<End>(queued.event)) former.append(queued.rank, std::move(queued.event));
    }
    if (++lazy_turns >= options.unwatched_periods) haste = Haste::now;
    hand_over(haste);
  }

  // Formed batches are written to the disk and then sent to the relay.
  enum class Haste { none, if_watched, now };
  void hand_over(Haste haste) {
    const std::string trouble = former.flush();
    if (uplink) {
      for (Uplink::Outgoing& message : former.take()) uplink->offer(std::move(message));
      if (haste == Haste::now) lazy_turns = 0;
      if (haste != Haste::none) uplink->turn(haste == Haste::if_watched);
    }
    report(trouble);
  }
  int lazy_turns = 0;

  void report(const std::string& trouble) {
    const std::lock_guard lock(mutex);
    const BatchFormer::Counts& counts = former.counts();
    status.events = counts.rows;
    status.malformed_events = counts.malformed;
    status.messages = counts.messages;
    status.bytes = counts.bytes;
    status.spool_lost = counts.spool_lost;
    if (!trouble.empty() && trouble != status.spool_error && options.warn) options.warn(trouble);
    status.spool_error = trouble;
    status.thread_seconds = 1e-9 * static_cast<double>(thread_cpu_ns());
    if (!uplink) return;
    status.sent = uplink->sent();
    status.unsent_detail = uplink->unsent_detail();
    status.waiting = static_cast<std::int64_t>(uplink->reliable_waiting());
    status.connected = uplink->connected();
    uplink_lost = uplink->reliable_lost();
    if (uplink->refusal().empty() || std::exchange(reported_refusal, true) || !options.refused) return;
    options.refused(uplink->refusal());
  }
  bool reported_refusal = false;

  bool is_closing() const {
    const std::lock_guard lock(mutex);
    return closing;
  }

  void run() {
    auto drained = Clock::now();
    for (;;) {
      const unsigned why = bell.wait(std::max(drained + options.period - Clock::now(), Clock::duration::zero()));
      const auto turn_at = drained + options.period;
      if (why == message_queued && Clock::now() < turn_at) {
        std::this_thread::sleep_until(std::min(Clock::now() + gather_words, turn_at));
        if ((bell.wait(Clock::duration::zero()) & ~message_queued) == 0 && Clock::now() < turn_at) {
          words();
          continue;
        }
      }
      const bool last = is_closing();
      turn(last);
      drained = Clock::now();
      if (!last) continue;
      // Rows written before close() are drained; then the relay receives them until the limit has elapsed.
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
  state_->thread = start_thread("telemetry", [s = state_.get()] { s->run(); });
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
  s.bell.ring(message_queued);
  return true;
}

bool Publisher::summary(const StepSummary& summary) { return control(summary.rank, summary); }

bool Publisher::detail(std::int32_t rank, Event batch) {
  assert(!is_reliable(batch));
  State& s = *state_;
  const auto count = static_cast<std::int64_t>(keep_requested(batch, s.options.keep.every));
  if (count == 0) return true;
  const std::lock_guard lock(s.mutex);
  if (s.closing || s.detail.size() >= s.options.detail_messages) {
    s.batch_counts[rank].dropped += count;
    return false;
  }
  s.batch_counts[rank].emitted += count;
  s.detail.push_back({rank, std::move(batch)});
  if (s.detail.size() == (s.options.detail_messages + 1) / 2) s.bell.ring(detail_gathered);
  return true;
}

Publisher::Counts Publisher::counts(std::int32_t rank) const {
  const State& s = *state_;
  const std::lock_guard lock(s.mutex);
  Counts sum;
  if (const auto found = s.batch_counts.find(rank); found != s.batch_counts.end()) sum = found->second;
  for (const auto& lane : s.lanes) {
    if (lane->rank() != rank) continue;
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
