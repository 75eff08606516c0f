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

#include "engine/base/host/threads.hpp"
#include "engine/execute/run/clock.hpp"
#include "engine/execute/run/dispatch.hpp"

namespace rankscope {
namespace {

using namespace std::chrono_literals;

/// Ends that may still be asked for: of those steps, and of the one before that the oldest of them comes after.
constexpr std::uint32_t kept_ends = steps_under_way + 1;
/// Reports are not urgent, and polling costs time on few cores.
constexpr auto look_every = 500us;
constexpr std::int64_t fit_clock_every_ns = 1'000'000'000;
/// The first step loads code onto the device; the second has only its ops to wait for.
constexpr std::uint32_t measured_steps = 2;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

/// A place in a lane: on a queue a mark, on the host a time.
struct Stamp {
  Mark mark;
  std::int64_t host_ns = 0;
  bool reached() const { return !mark || mark->reached(); }
  std::int64_t time_ns() const { return mark ? mark->time_ns() : host_ns; }
};
Stamp stamp(Queue& queue) {
  Stamp stamp;
  stamp.mark = queue.mark();
  if (!stamp.mark) stamp.host_ns = monotonic_ns();
  return stamp;
}

struct Issued {
  OpIndex op = 0;
  std::uint32_t step = 0;
  Stamp begin, end;
  std::int64_t cpu_ns = 0;
  bool alone = false;
  OpOutcome outcome;
};

/// An op's begin or end, in the order of reporting.
struct Moved {
  std::int64_t time_ns = 0;
  std::uint64_t number = 0;  ///< among equal times
  bool begins = false;
  std::shared_ptr<Done> done;
  bool operator<(const Moved& other) const {  // a queue gives its greatest first
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
        alone_ns_(program.ops.size(), -1) {
    for (const Op& op : program.ops) tokens_.push_back(to_token(op.id));
  }

  ~QueueDispatch() override { stop(true); }

  void begin(std::uint32_t first) override {
    first_ = told_ = first;
    if (!measured_from_) measured_from_ = first;
    left_.clear();
    over_.clear();
    moments_ = {};
    pending_ = {};
    failure_ = nullptr;
    closing_ = given_up_ = false;
    last_end_.fill(monotonic_ns());
    entered_ns_.fill(never);
    device_.fit_clock();
    fitted_ns_ = monotonic_ns();
    teller_ = start_thread("reading when ops ended", [this] { tell(); });
  }

  void run(OpIndex index, std::uint32_t step) override {
    device_.use();
    const Op& op = program_.ops[index];
    wait_for_room(step, lane_of(op));
    Queue& queue = queues_.of(op.lane());
    for (const OpIndex before : op.after) queue.wait_for(end_of(before, step));
    if (step > first_)
      for (const OpIndex before : op.after_previous) queue.wait_for(end_of(before, step - 1));
    Issued issued;
    issued.op = index;
    issued.step = step;
    issued.alone = measures_alone_ && step - *measured_from_ < measured_steps && computes(op);
    if (issued.alone) {
      wait_here(queue.mark());  // for its predecessor: no op uses the device meanwhile
      const std::lock_guard turn(device_.turn());
      launch(issued, queue);
      wait_here(issued.end.mark);
    } else {
      launch(issued, queue);
    }
    end_of(index, step) = issued.end.mark;
    const std::lock_guard lock(mutex_);
    pending_[lane_of(op)].push_back(std::move(issued));
    entered_ns_[lane_of(op)] = never;
  }

  void give_up() override {
    {
      const std::lock_guard lock(mutex_);
      given_up_ = true;
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
  static void wait_here(const Mark& mark) {
    if (mark) mark->wait();
  }
  /// Written by the op's lane before the executor lets others know of the op, and by none while they may look.
  Mark& end_of(OpIndex op, std::uint32_t step) { return ends_[op][step % kept_ends]; }

  void launch(Issued& issued, Queue& queue) {
    issued.begin = stamp(queue);
    const std::int64_t cpu = thread_cpu_ns();
    device_.begin_range(tokens_[issued.op].c_str());
    issued.outcome = calls_.launch(issued.op, issued.step);
    device_.end_range();
    issued.cpu_ns = thread_cpu_ns() - cpu;
    if (calls_.left) calls_.left(issued.op, issued.step);
    issued.end = stamp(queue);
  }

  void wait_for_room(std::uint32_t step, std::size_t lane) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return step - told_ < steps_under_way_of(program_) || failure_ || given_up_; });
    if (failure_) std::rethrow_exception(failure_);
    if (given_up_) throw std::runtime_error("another lane of this rank has failed");  // whose reason is reported
    entered_ns_[lane] = monotonic_ns();
  }

  void stop(bool failed) {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
      given_up_ = failed;
    }
    room_.notify_all();
    wake_.notify_all();
    if (teller_.joinable()) teller_.join();
    for (auto& marks : ends_) marks.fill(nullptr);
  }

  void tell() {
    try {
      device_.use();
      for (;;) {
        const bool all = collect();
        while (!moments_.empty() && (all || moments_.top().time_ns <= settled_ns_)) tell_one();
        std::unique_lock lock(mutex_);
        if (given_up_ || (all && closing_)) return;
        if (!closing_) wake_.wait_for(lock, look_every);
        const Mark last = closing_ ? newest_pending() : nullptr;
        lock.unlock();
        wait_here(last);  // no more events: no hurry
        if (monotonic_ns() - fitted_ns_ > fit_clock_every_ns) {
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

  /// Takes finished ops from the lanes. True if none is left, so that all further ops are later.
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
    for (Issued& issued : finished) enter(issued, lane_of(program_.ops[issued.op]));
    for (std::size_t lane = 0; lane < lane_count; ++lane)
      if (ops_wait[lane]) settled_ns_ = std::min(settled_ns_, last_end_[lane]);
    return std::none_of(open.begin(), open.end(), [](bool lane_is_open) { return lane_is_open; });
  }

  void enter(Issued& issued, std::size_t lane) {
    auto done = std::make_shared<Done>();
    done->op = issued.op;
    done->outcome = std::move(issued.outcome);
    // Marks are read by fits of the clock that differ by less than their error; a lane's ops do not overlap, and what
    // has been reported is not before what is.
    const std::int64_t begin = std::max({issued.begin.time_ns(), last_end_[lane], told_ns_});
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
    if (issued.alone) alone_ns_[issued.op] = end - begin;
    if (!is_communication(done->span.op.kind()))  // the links determine the cost of a message
      done->cost_ns = alone_ns_[issued.op] >= 0 ? alone_ns_[issued.op] : end - begin;
    moments_.push({begin, number_++, true, done});
    moments_.push({end, number_++, false, std::move(done)});
  }

  void tell_one() {
    const Moved moved = moments_.top();
    moments_.pop();
    told_ns_ = moved.time_ns;
    Done& done = *moved.done;
    if (moved.begins) return calls_.began(done.span, done.op);
    const std::uint32_t step = done.span.step;
    calls_.ended(done.span, done.op);
    calls_.done(std::move(done));
    const auto left = left_.try_emplace(step, program_.ops.size()).first;
    if (--left->second > 0) return;
    left_.erase(left);
    // Steps may end in another order than they began in: earlier ones may still have an op to report.
    const std::lock_guard lock(mutex_);
    over_.insert(step);
    while (over_.erase(told_) > 0) ++told_;
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
  std::uint32_t first_ = 0;
  std::optional<std::uint32_t> measured_from_;

  std::mutex mutex_;
  std::condition_variable room_, wake_;
  std::array<std::deque<Issued>, lane_count> pending_;
  std::array<std::int64_t, lane_count> entered_ns_{};  ///< an op that is being launched begins no earlier
  std::uint32_t told_ = 0;                             ///< all steps before it
  std::set<std::uint32_t> over_;
  std::exception_ptr failure_;
  bool closing_ = false, given_up_ = false;

  // Used by the reporting thread only.
  std::thread teller_;
  std::array<std::int64_t, lane_count> last_end_{};
  std::priority_queue<Moved> moments_;
  std::map<std::uint32_t, std::size_t> left_;  ///< ops of a step that are not reported yet
  std::uint64_t number_ = 0;
  std::int64_t settled_ns_ = 0, fitted_ns_ = 0, told_ns_ = 0;
  std::vector<std::int64_t> alone_ns_;
};

}  // namespace

std::unique_ptr<Dispatch> dispatch_on_queues(const RankProgram& program, std::int64_t start_ns, Device& device,
                                             LaneQueues& queues, bool measures_alone, DispatchCalls calls) {
  return std::make_unique<QueueDispatch>(program, start_ns, device, queues, measures_alone, std::move(calls));
}

}  // namespace rankscope
