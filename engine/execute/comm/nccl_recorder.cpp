#include "engine/execute/comm/nccl_recorder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <deque>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "engine/execute/comm/clock.hpp"
#include "engine/execute/comm/device_timer.hpp"
#include "engine/execute/comm/nccl_profiler_interface.hpp"

namespace rankscope::comm {

using namespace profiler;

namespace {

constexpr std::string_view name_begins = "rankscope ";
constexpr std::size_t most_phases = 1 << 16;  // not fetched yet
constexpr std::size_t most_works = 1024;      // announced, perhaps not begun: more than NCCL's queue can contain

/// NCCL identifies events by numbers that are never reused, so that the number of an event that has ended, or never
/// began, matches none. The upper half is the recording's.
using Number = std::uint64_t;
constexpr int recording_shift = 32;
Number number_of(const void* handle) { return reinterpret_cast<Number>(handle); }
void* handle_of(Number number) { return reinterpret_cast<void*>(number); }

/// The begin of an event, as any version reports it.
struct Begin {
  std::uint64_t type = 0;
  Number parent = 0;
  int channels = 0;  ///< of a work
  bool is_send = false;
  int peer = -1;  ///< of messages and transfers: in the communicator
  int channel = 0, step = 0;
  bool is_foreign = false;  ///< its parent is another process's
  std::int64_t timer_ns = 0;
};

/// The first part is common to both versions; the type selects the valid member of the union.
template <class Type>
Begin begin_of(const Descriptor<Type>& d) {
  Begin begin;
  begin.type = d.type;
  begin.parent = number_of(d.parent);
  switch (begin.type) {
    case collective: begin.channels = d.collective.channels; break;
    case message:
      begin.channels = d.message.channels;
      begin.is_send = d.message.function != nullptr && std::string_view(d.message.function) == "Send";
      begin.peer = d.message.peer;
      break;
    case proxy_op:
      begin.is_foreign = d.proxy_op.pid != getpid();
      begin.is_send = d.proxy_op.is_send != 0;
      begin.peer = d.proxy_op.peer;
      begin.channel = d.proxy_op.channel;
      break;
    case proxy_step: begin.step = d.proxy_step.step; break;
    case kernel_channel:
      begin.channel = d.kernel_channel.channel;
      begin.timer_ns = static_cast<std::int64_t>(d.kernel_channel.timer_ns);
      break;
    default: break;
  }
  return begin;
}

}  // namespace

class NcclRecording {
 public:
  NcclRecording(Number number, const GroupSetting& setting)
      : next_((number << recording_shift) + 1), members_(setting.members), rank_(setting.rank()) {}

  void begin_call(const NcclWorks& works) {
    const std::lock_guard lock(mutex_);
    in_flight_ = works;
  }
  void end_call() {
    const std::lock_guard lock(mutex_);
    in_flight_ = {};
  }

  std::vector<LatePhase> take() {
    const std::lock_guard lock(mutex_);
    std::vector<LatePhase> phases;
    for (ReportedPhase& reported : std::exchange(reported_, {})) {
      if (reported.is_on_timer) {
        reported.phase.phase.begin_ns = timer_.on_host(reported.phase.phase.begin_ns);
        reported.phase.phase.end_ns = timer_.on_host(reported.phase.phase.end_ns);
      }
      phases.push_back(reported.phase);
    }
    return phases;
  }

  bool awaits_more() const {
    const std::lock_guard lock(mutex_);
    for (const Number work : works_)
      if (events_.at(work).channels_left > 0) return true;
    return false;
  }

  // The functions that NCCL calls.
  /// Returns 0: neither it nor its phases are recorded.
  Number start(const Begin& begin) {
    const std::lock_guard lock(mutex_);
    Event event;
    event.type = begin.type;
    event.begin_ns = monotonic_ns();
    if (begin.type == collective || begin.type == message) {
      if (in_flight_.count == 0) return 0;
      --in_flight_.count;
      if (!in_flight_.call) return 0;
      event.call = *in_flight_.call;
      event.channels_left = begin.channels;
      set_peer(event, begin);
      const Number number = add(event);
      works_.push_back(number);
      if (works_.size() > most_works) {
        events_.erase(works_.front());
        works_.pop_front();
      }
      return number;
    }
    const auto parent = begin.is_foreign ? events_.end() : events_.find(begin.parent);
    if (parent == events_.end()) return 0;
    const bool fits = begin.type == proxy_step
                          ? parent->second.type == proxy_op
                          : (begin.type == proxy_op || begin.type == kernel_channel) &&
                                (parent->second.type == collective || parent->second.type == message);
    if (!fits) return 0;
    event.call = parent->second.call;
    event.parent = parent->first;
    event.channel = begin.channel;
    event.from = parent->second.from;
    event.to = parent->second.to;
    if (begin.type == proxy_op) set_peer(event, begin);
    if (begin.type == proxy_step) {
      event.channel = parent->second.channel;
      event.step = begin.step;
    }
    if (begin.type == kernel_channel) {
      event.begin_ns = begin.timer_ns;
      timer_.add_sample(monotonic_ns(), begin.timer_ns);
    }
    return add(event);
  }

  void set_state(Number number, int state, const StateArguments* arguments) {
    const std::lock_guard lock(mutex_);
    const auto found = events_.find(number);
    if (found == events_.end()) return;
    Event& event = found->second;
    if (event.type == kernel_channel && state == kernel_channel_stop && arguments != nullptr) {
      event.end_ns = static_cast<std::int64_t>(arguments->kernel_channel.timer_ns);
      event.has_end = true;
      timer_.add_sample(monotonic_ns(), event.end_ns);
    }
    if (event.type != proxy_step) return;
    // It begins to move when its condition is met: data of the device, or space at the peer.
    if (state == step_send_wait || state == step_receive_wait) event.begin_ns = monotonic_ns();
    const bool has_bytes =
        state == step_send_wait || state == step_receive_flush_wait || state == step_receive_gpu_wait;
    if (has_bytes && arguments != nullptr && arguments->proxy_step.bytes > 0)
      event.bytes = static_cast<std::int64_t>(arguments->proxy_step.bytes);
  }

  void stop(Number number) {
    const std::lock_guard lock(mutex_);
    const auto found = events_.find(number);
    if (found == events_.end()) return;
    Event& event = found->second;
    if (event.type == collective || event.type == message) return;  // enqueued; its phases are still to be reported
    if (event.type == proxy_step) {
      event.end_ns = monotonic_ns();
      report(event, event.step + 1);
    }
    if (event.type == kernel_channel) {
      if (event.has_end) report(event, 0);
      if (const auto work = events_.find(event.parent); work != events_.end()) --work->second.channels_left;
    }
    events_.erase(found);
  }

 private:
  struct Event {
    std::uint64_t type = 0, call = 0;
    Number parent = 0;
    int channels_left = 0;  ///< of a work
    int channel = 0, step = 0, from = -1, to = -1;
    std::int64_t bytes = -1, begin_ns = 0, end_ns = 0;  ///< a kernel's channel has its times on the device's timer
    bool has_end = false;
  };
  struct ReportedPhase {
    LatePhase phase;
    bool is_on_timer = false;
  };

  void set_peer(Event& event, const Begin& begin) const {
    if (begin.peer < 0 || begin.peer >= static_cast<int>(members_.size())) return;
    const int peer = members_[begin.peer];
    event.from = begin.is_send ? rank_ : peer;
    event.to = begin.is_send ? peer : rank_;
  }

  Number add(const Event& event) {
    events_[next_] = event;
    return next_++;
  }

  void report(const Event& event, int phase) {
    if (reported_.size() >= most_phases) return;
    PhaseRecord record{phase,
                       event.channel,
                       event.from,
                       event.to,
                       event.bytes,
                       event.begin_ns,
                       std::max(event.begin_ns, event.end_ns)};
    reported_.push_back({{event.call, record}, event.type == kernel_channel});
  }

  mutable std::mutex mutex_;
  Number next_;
  const std::vector<int> members_;
  const int rank_;
  NcclWorks in_flight_{};  ///< of the call that is being enqueued: those not reported yet
  std::map<Number, Event> events_;
  std::deque<Number> works_;  ///< the latest, all in events_
  std::vector<ReportedPhase> reported_;
  DeviceTimer timer_;
};

namespace {

/// All recordings of this process, by number: NCCL's interface provides no other place for them.
class Registry {
 public:
  std::shared_ptr<NcclRecording> make(const GroupSetting& setting, Number& number) {
    const std::lock_guard lock(mutex_);
    number = ++made_;
    return recordings_[number] = std::make_shared<NcclRecording>(number, setting);
  }
  void forget(const NcclRecording& gone) {
    const std::lock_guard lock(mutex_);
    std::erase_if(recordings_, [&](const auto& one) { return one.second.get() == &gone; });
  }
  std::shared_ptr<NcclRecording> find(Number number) {
    const std::lock_guard lock(mutex_);
    const auto found = recordings_.find(number);
    return found == recordings_.end() ? nullptr : found->second;
  }
  std::shared_ptr<NcclRecording> of_event(const void* handle) { return find(number_of(handle) >> recording_shift); }

 private:
  std::mutex mutex_;
  Number made_ = 0;
  std::map<Number, std::shared_ptr<NcclRecording>> recordings_;
};
Registry& registry() {
  static Registry* const one = new Registry;  // never destroyed: proxy threads may outlive main
  return *one;
}

constexpr int success = 0;

int open(void** context, int* mask, const char* name) {
  *context = nullptr;
  *mask = static_cast<int>(collective | message | proxy_op | proxy_step | kernel_channel);
  const std::string_view given = name != nullptr ? name : "";
  if (!given.starts_with(name_begins)) return success;  // a communicator that is not ours
  Number number = 0;
  std::from_chars(given.data() + name_begins.size(), given.data() + given.size(), number);
  if (registry().find(number)) *context = handle_of(number);
  return success;
}

template <class Type>
int start(void* context, void** handle, Descriptor<Type>* descriptor) {
  *handle = nullptr;
  if (const auto recording = registry().find(number_of(context)))
    *handle = handle_of(recording->start(begin_of(*descriptor)));
  return success;
}

int record(void* handle, int state, StateArguments* arguments) {
  if (const auto recording = registry().of_event(handle)) recording->set_state(number_of(handle), state, arguments);
  return success;
}

int stop(void* handle) {
  if (const auto recording = registry().of_event(handle)) recording->stop(number_of(handle));
  return success;
}

int finalize(void*) { return success; }

}  // namespace

NcclRecorder::NcclRecorder(const GroupSetting& setting) {
  Number number = 0;
  recording_ = registry().make(setting, number);
  name_ = fmt::format("{}{}", name_begins, number);
}
NcclRecorder::~NcclRecorder() { registry().forget(*recording_); }
void NcclRecorder::begin_call(const NcclWorks& works) { recording_->begin_call(works); }
void NcclRecorder::end_call() { recording_->end_call(); }
std::vector<LatePhase> NcclRecorder::take() { return recording_->take(); }
bool NcclRecorder::awaits_more() const { return recording_->awaits_more(); }

}  // namespace rankscope::comm

// The symbol by which NCCL finds a plug-in linked into the program.
extern "C" {
extern rankscope::comm::profiler::Plugin4 ncclProfiler_v4;
extern rankscope::comm::profiler::Plugin5 ncclProfiler_v5;

rankscope::comm::profiler::Plugin4 ncclProfiler_v4 = {
    "rankscope",
    [](void** context, int* mask, const char* name, std::uint64_t, int, int, int, rankscope::comm::profiler::Log) {
      return rankscope::comm::open(context, mask, name);
    },
    rankscope::comm::start<std::uint8_t>,
    rankscope::comm::stop,
    rankscope::comm::record,
    rankscope::comm::finalize};

rankscope::comm::profiler::Plugin5 ncclProfiler_v5 = {
    "rankscope",
    [](void** context, std::uint64_t, int* mask, const char* name, int, int, int, rankscope::comm::profiler::Log) {
      return rankscope::comm::open(context, mask, name);
    },
    rankscope::comm::start<std::uint64_t>,
    rankscope::comm::stop,
    rankscope::comm::record,
    rankscope::comm::finalize};
}
