#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <queue>
#include <set>
#include <thread>
#include <tuple>

#include "engine/base/host/clock.hpp"
#include "engine/base/host/threads.hpp"
#include "engine/execute/run/dispatch.hpp"

namespace rankscope {
namespace {

using namespace std::chrono_literals;

/// Steps whose ends may still be needed: those in flight, and the step before the oldest of them.
constexpr std::uint32_t kept_ends = steps_in_flight + 1;
/// Reports are not urgent, and polling costs time on few cores.
constexpr auto poll_interval = 500us;
constexpr std::int64_t fit_clock_every_ns = 1'000'000'000;
/// The first step loads code onto the device; from the second step on only ops take time.
constexpr std::uint32_t measured_steps = 2;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

/// The end of an op: on a queue a mark, on the host a time.
struct Stamp {
  Mark mark;
  std::int64_t host_ns = 0;
  bool reached() const { return !mark || mark->reached(); }
  std::int64_t time_ns() const { return mark ? mark->time_ns() : host_ns; }
};

struct Issued {
  OpIndex op = 0;
  std::uint32_t step = 0;
  std::int64_t launched_ns = 0;  ///< when the host began to launch it: the ops before it on the host had ended
  std::vector<Mark> waits;       ///< of its queue for other lanes, directly before it
  Mark begin;                    ///< of an op that is measured alone: the host's clock is too inaccurate for its cost
  Stamp end;
  std::int64_t cpu_ns = 0;
  OpOutcome outcome;
};

/// An op's begin or end, in the order of reporting.
struct OpEvent {
  std::int64_t time_ns = 0;
  std::uint64_t number = 0;  ///< among equal times
  bool begins = false;
  std::shared_ptr<FinishedOp> done;
  bool operator<(const OpEvent& other) const {  // std::priority_queue returns the greatest first
    return std::tie(time_ns, number) > std::tie(other.time_ns, other.number);
  }
};

class QueueDispatch final : public Dispatch {
 public:
  QueueDispatch(const RankProgram& program, std::int64_t start_ns, Device& device, LaneQueues& queues,
                bool measures_alone, DispatchCalls calls)
      : program_(program),
        start_ns_(start_ns),
        device_(device),
        queues_(queues),
        measures_alone_(measures_alone),
        calls_(std::move(calls)),
        ends_(program.ops.size()),
        needed_(ends_needed(program)),
        needed_count_(static_cast<std::size_t>(std::count(needed_.begin(), needed_.end(), true))),
        alone_ns_(program.ops.size(), -1) {
    for (const Op& op : program.ops) tokens_.push_back(to_token(op.id));
  }

  ~QueueDispatch() override { stop(true); }

  void begin(std::uint32_t first, bool observed) override {
    first_ = first_unreported_ = first;
    observed_ = observed;
    if (observed && !measured_from_) measured_from_ = first;
    unreported_ops_.clear();
    over_.clear();
    events_ = {};
    pending_ = {};
    failure_ = nullptr;
    closing_ = aborted_ = false;
    last_end_.fill(monotonic_ns());
    entered_ns_.fill(never);
    if (observed) device_.fit_clock();
    fitted_ns_ = monotonic_ns();
    reporter_ = start_thread("reading when ops ended", [this] { report_until_end(); });
  }

  void run(OpIndex index, std::uint32_t step) override {
    device_.use();
    const Op& op = program_.ops[index];
    wait_for_room(step, lane_of(op));
    Queue& queue = queues_.of(op.lane());
    Issued issued;
    issued.op = index;
    issued.step = step;
    const auto wait_for = [&](OpIndex before, std::uint32_t its_step) {
      if (lane_of(program_.ops[before]) == lane_of(op)) return;  // a queue is in order
      const Mark& end = end_of(before, its_step);
      queue.wait_for(end);
      if (observed_ && end) issued.waits.push_back(end);
    };
    for (const OpIndex before : op.after) wait_for(before, step);
    if (step > first_)
      for (const OpIndex before : op.after_previous) wait_for(before, step - 1);
    if (observed_ && measures_alone_ && step - *measured_from_ < measured_steps && computes(op)) {
      wait_on_host(queue.mark());  // for the ops before it, so that the device is free
      const std::lock_guard exclusive_mutex(device_.exclusive_mutex());
      issued.launched_ns = monotonic_ns();
      issued.begin = queue.mark();
      launch(issued, queue);
      wait_on_host(issued.end.mark);
    } else {
      issued.launched_ns = monotonic_ns();
      launch(issued, queue);
    }
    end_of(index, step) = issued.end.mark;
    const std::lock_guard lock(mutex_);
    if (is_reported(index)) pending_[lane_of(op)].push_back(std::move(issued));
    entered_ns_[lane_of(op)] = never;
  }

  void abort() override {
    {
      const std::lock_guard lock(mutex_);
      aborted_ = true;
    }
    room_.notify_all();
  }

  void end(bool failed) override {
    stop(failed);
    if (failure_ && !failed) std::rethrow_exception(failure_);
  }

 private:
  static std::size_t lane_of(const Op& op) { return static_cast<std::size_t>(op.lane()); }
  static bool computes(const Op& op) {
    return (is_model_compute(op.id.kind()) || op.id.kind() == OpKind::optimizer) && !is_on_host(op.lane());
  }
  /// The ops whose ends are needed even without an observer: those that other lanes wait for, and the last one of each
  /// lane. In a lane whose ops run in order of arrival any op may be the last.
  static std::vector<bool> ends_needed(const RankProgram& program) {
    std::vector<bool> needed(program.ops.size(), program.arrivals_ahead.has_value());
    for (const Op& op : program.ops)
      for (const auto& list : {op.after, op.after_previous})
        for (const OpIndex before : list)
          if (lane_of(program.ops[before]) != lane_of(op)) needed[before] = true;
    for (const std::vector<OpIndex>& lane : program.lanes())
      if (!lane.empty()) needed[lane.back()] = true;
    return needed;
  }
  bool is_reported(OpIndex op) const { return observed_ || needed_[op]; }
  static void wait_on_host(const Mark& mark) {
    if (mark) mark->wait();
  }
  /// Written by the op's lane before the executor reports the op to other lanes, and never while they may read it.
  Mark& end_of(OpIndex op, std::uint32_t step) { return ends_[op][step % kept_ends]; }

  void launch(Issued& issued, Queue& queue) {
    const std::int64_t cpu = thread_cpu_ns();
    device_.begin_range(tokens_[issued.op].c_str());
    issued.outcome = calls_.launch(issued.op, issued.step);
    device_.end_range();
    issued.cpu_ns = thread_cpu_ns() - cpu;
    if (calls_.launched) calls_.launched(issued.op, issued.step);
    if (is_reported(issued.op)) issued.end.mark = queue.mark();
    if (!issued.end.mark) issued.end.host_ns = monotonic_ns();
  }

  void wait_for_room(std::uint32_t step, std::size_t lane) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return step - first_unreported_ < steps_in_flight_of(program_) || failure_ || aborted_; });
    if (failure_) std::rethrow_exception(failure_);
    if (aborted_) throw std::runtime_error("another lane of this rank has failed");  // that failure is reported
    entered_ns_[lane] = monotonic_ns();
  }

  void stop(bool failed) {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
      aborted_ = failed;
    }
    room_.notify_all();
    wake_.notify_all();
    if (reporter_.joinable()) reporter_.join();
    for (auto& marks : ends_) marks.fill(nullptr);
  }

  void report_until_end() {
    try {
      device_.use();
      for (bool closing = false;;) {
        {
          const std::lock_guard lock(mutex_);
          closing = closing_;
        }
        // Only after the lanes have ended does "no op is pending" mean that none will be: lanes launch ops meanwhile.
        const bool all = collect();
        while (!events_.empty() && (all || events_.top().time_ns <= settled_ns_)) report_one();
        std::unique_lock lock(mutex_);
        if (aborted_ || (all && closing)) return;
        if (!closing_) wake_.wait_for(lock, poll_interval);
        const Mark last = closing_ ? newest_pending() : nullptr;
        lock.unlock();
        wait_on_host(last);  // no events are left to report
        if (observed_ && monotonic_ns() - fitted_ns_ > fit_clock_every_ns) {
          device_.fit_clock();
          fitted_ns_ = monotonic_ns();
        }
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      room_.notify_all();
    }
  }

  Mark newest_pending() const {
    for (const auto& lane : pending_)
      if (!lane.empty()) return lane.back().end.mark;
    return nullptr;
  }

  /// Fetches finished ops from the lanes. True if none is left, so that all further ops are later.
  bool collect() {
    std::vector<Issued> finished;
    std::array<bool, lane_count> open{}, ops_wait{};
    settled_ns_ = monotonic_ns();
    {
      const std::lock_guard lock(mutex_);
      for (std::size_t lane = 0; lane < lane_count; ++lane) {
        auto& pending = pending_[lane];
        while (!pending.empty() && pending.front().end.reached()) {
          finished.push_back(std::move(pending.front()));
          pending.pop_front();
        }
        open[lane] = !pending.empty() || entered_ns_[lane] != never;
        settled_ns_ = std::min(settled_ns_, entered_ns_[lane]);
        ops_wait[lane] = !pending.empty();
      }
    }
    for (Issued& issued : finished)
      if (observed_)
        enter(issued, lane_of(program_.ops[issued.op]));
      else
        count(issued.step);
    for (std::size_t lane = 0; lane < lane_count; ++lane)
      if (ops_wait[lane]) settled_ns_ = std::min(settled_ns_, last_end_[lane]);
    return std::none_of(open.begin(), open.end(), [](bool lane_is_open) { return lane_is_open; });
  }

  void enter(Issued& issued, std::size_t lane) {
    auto done = std::make_shared<FinishedOp>();
    done->op = issued.op;
    done->outcome = std::move(issued.outcome);
    // Fits of the clock have errors, so a mark may seem too early. It is moved so that an op begins after the host
    // launched it, the ops of a lane do not overlap, and events are in order of time.
    std::int64_t begin = std::max({issued.launched_ns, last_end_[lane], reported_ns_});
    for (const Mark& wait : issued.waits) begin = std::max(begin, wait->time_ns());
    if (issued.begin) begin = std::max(begin, issued.begin->time_ns());
    const std::int64_t end = std::max(issued.end.time_ns(), begin);
    OpOutcome& outcome = done->outcome;
    const std::int64_t active = outcome.active           ? outcome.active->time_ns()
                                : outcome.active_ns >= 0 ? outcome.active_ns
                                                         : begin;
    last_end_[lane] = end;
    for (PhaseRecord& phase : outcome.phases) {
      if (phase.begin) phase.begin_ns = phase.begin->time_ns();
      if (phase.end) phase.end_ns = phase.end->time_ns();
      phase.begin = phase.end = nullptr;
    }
    outcome.active = nullptr;
    done->span = {program_.rank,
                  issued.step,
                  program_.ops[issued.op].id,
                  begin - start_ns_,
                  std::clamp(active, begin, end) - start_ns_,
                  end - start_ns_,
                  issued.cpu_ns};
    if (issued.begin)  // both on the device's clock, without the corrections above
      alone_ns_[issued.op] = std::max<std::int64_t>(0, issued.end.time_ns() - issued.begin->time_ns());
    if (!is_communication(done->span.op.kind()))  // the links determine the cost of a message
      done->cost_ns = alone_ns_[issued.op] >= 0 ? alone_ns_[issued.op] : end - begin;
    events_.push({begin, number_++, true, done});
    events_.push({end, number_++, false, std::move(done)});
  }

  void report_one() {
    const OpEvent event = events_.top();
    events_.pop();
    reported_ns_ = event.time_ns;
    FinishedOp& done = *event.done;
    if (event.begins) return calls_.began(done.span, done.op);
    const std::uint32_t step = done.span.step;
    calls_.ended(done.span, done.op);
    calls_.done(std::move(done));
    count(step);
  }

  /// Counts one more op of the step as reported, or, without an observer, as ended.
  void count(std::uint32_t step) {
    const auto launched = unreported_ops_.try_emplace(step, observed_ ? program_.ops.size() : needed_count_).first;
    if (--launched->second > 0) return;
    unreported_ops_.erase(launched);
    // Steps may end in another order than they began: earlier steps may still have ops to report.
    const std::lock_guard lock(mutex_);
    over_.insert(step);
    while (over_.erase(first_unreported_) > 0) ++first_unreported_;
    room_.notify_all();
  }

  const RankProgram& program_;
  const std::int64_t start_ns_;
  Device& device_;
  LaneQueues& queues_;
  const bool measures_alone_;
  const DispatchCalls calls_;
  std::vector<std::array<Mark, kept_ends>> ends_;  ///< by op and step
  std::vector<std::string> tokens_;                ///< by op
  const std::vector<bool> needed_;                 ///< by op: its end is needed even without an observer
  const std::size_t needed_count_;
  std::uint32_t first_ = 0;
  bool observed_ = true;
  std::optional<std::uint32_t> measured_from_;

  std::mutex mutex_;
  std::condition_variable room_, wake_;
  std::array<std::deque<Issued>, lane_count> pending_;
  std::array<std::int64_t, lane_count> entered_ns_{};  ///< an op that is being launched begins no earlier
  std::uint32_t first_unreported_ = 0;                 ///< all steps before it
  std::set<std::uint32_t> over_;
  std::exception_ptr failure_;
  bool closing_ = false, aborted_ = false;

  // Used by the reporter's thread only.
  std::thread reporter_;
  std::array<std::int64_t, lane_count> last_end_{};
  std::priority_queue<OpEvent> events_;
  std::map<std::uint32_t, std::size_t> unreported_ops_;  ///< ops of a step that are not reported yet
  std::uint64_t number_ = 0;
  std::int64_t settled_ns_ = 0, fitted_ns_ = 0, reported_ns_ = 0;
  std::vector<std::int64_t> alone_ns_;
};

}  // namespace

std::unique_ptr<Dispatch> dispatch_on_queues(const RankProgram& program, std::int64_t start_ns, Device& device,
                                             LaneQueues& queues, bool measures_alone, DispatchCalls calls) {
  return std::make_unique<QueueDispatch>(program, start_ns, device, queues, measures_alone, std::move(calls));
}

}  // namespace rankscope
