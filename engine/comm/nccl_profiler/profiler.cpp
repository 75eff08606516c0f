// The plug-in: NCCL loads it (NCCL_PROFILER_PLUGIN), and tells it when a channel of a collective begins and ends on the
// device and when the proxy thread moves a step over the network. Each becomes a record of the collective or message it
// belongs to, kept until the process takes it.
//
// Calls come from the thread that enqueues and from NCCL's proxy threads. A collective is stopped when it is enqueued,
// long before its children begin, and nobody says when the last one has: the latest ones are kept, and every event
// holds its parent until it goes. With PXN an event's parent may lie in another process, which the pid tells; such
// events are left out.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "engine/comm/nccl_profiler/interface.hpp"
#include "engine/comm/nccl_profiler/record.hpp"

namespace rankscope::comm::profiler {

namespace {

constexpr int success = 0;
constexpr std::size_t most_kept = 1 << 16;  // records of a communicator that nobody has taken
constexpr std::size_t most_works = 1024;    // enqueued, and perhaps not begun: more than a queue of NCCL's holds

std::int64_t now_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

struct Event;
void release(Event* event);

/// A communicator's records. Lives until the process ends: they may be taken after NCCL is done with it.
struct Communicator {
  std::mutex mutex;
  std::uint64_t works = 0;
  std::deque<Event*> latest;  ///< collectives and messages, each held once
  std::deque<NcclRecord> records;
  std::int64_t lost = 0;
  /// What the device's timer is behind the host's clock: NCCL tells of a channel's begin some time after it, so the
  /// least difference ever seen is the nearest to the truth. It can only be too great, by the quickest telling.
  std::int64_t timer_offset_ns = INT64_MAX;

  /// Takes over the hold on it, and numbers it.
  std::uint64_t enter(Event* work) {
    Event* oldest = nullptr;
    std::uint64_t number = 0;
    {
      const std::lock_guard lock(mutex);
      number = works++;
      latest.push_back(work);
      if (latest.size() > most_works) {
        oldest = latest.front();
        latest.pop_front();
      }
    }
    release(oldest);
    return number;
  }
  void see_timer(std::uint64_t timer_ns) {
    const std::int64_t offset = now_ns() - static_cast<std::int64_t>(timer_ns);
    const std::lock_guard lock(mutex);
    timer_offset_ns = std::min(timer_offset_ns, offset);
  }
  void keep(const NcclRecord& record) {
    const std::lock_guard lock(mutex);
    if (records.size() >= most_kept)
      ++lost;
    else
      records.push_back(record);
  }
  std::int64_t host_time(std::uint64_t timer_ns) {
    const std::lock_guard lock(mutex);
    return static_cast<std::int64_t>(timer_ns) + timer_offset_ns;
  }
};

/// By name; made by whoever asks first.
class Registry {
 public:
  Communicator& of(const std::string& name) {
    const std::lock_guard lock(mutex_);
    auto& found = communicators_[name];
    if (!found) found = std::make_unique<Communicator>();
    return *found;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Communicator>> communicators_;
};
// NCCL's interface has no place for it but this: one for the library, made at first use.
Registry& registry() {
  static Registry* const one = new Registry;  // never destroyed: proxy threads may outlive main
  return *one;
}

struct Event {
  std::atomic<int> holders{1};
  std::uint64_t type = 0;
  Communicator* communicator = nullptr;
  Event* parent = nullptr;
  std::uint64_t work = 0;
  NcclRecord record;
  std::uint64_t timer_begin = 0, timer_end = 0;
  bool has_end = false, of_another_process = false;
};

void release(Event* event) {
  while (event != nullptr && --event->holders == 0) {
    Event* const parent = event->parent;
    delete event;
    event = parent;
  }
}

int open(void** context, int* mask, const char* name) {
  *mask = static_cast<int>(collective | message | proxy_op | proxy_step | kernel_channel);
  *context = &registry().of(name != nullptr ? name : "");
  return success;
}

template <class Type>
int start(void* context, void** handle, Descriptor<Type>* descriptor) {
  *handle = nullptr;
  const std::uint64_t type = descriptor->type;
  auto* communicator = static_cast<Communicator*>(context);
  if (communicator == nullptr) return success;
  const bool is_work = type == collective || type == message;
  if (!is_work && type != proxy_op && type != proxy_step && type != kernel_channel) return success;
  auto event = std::make_unique<Event>();
  event->type = type;
  event->communicator = communicator;
  if (is_work) {
    event->work = communicator->enter(event.get());
  } else {
    event->of_another_process = type == proxy_op && descriptor->proxy_op.pid != getpid();
    auto* parent = event->of_another_process ? nullptr : static_cast<Event*>(descriptor->parent);
    if (parent != nullptr) {
      ++parent->holders;
      event->parent = parent;
      event->work = parent->work;
      event->record = parent->record;  // a step has its operation's channel and peer
      event->of_another_process = parent->of_another_process;
    } else {
      event->of_another_process = true;  // whose it is nobody here can say
    }
    event->record.begin_ns = now_ns();
  }
  if (type == proxy_op) {
    event->record.kind = descriptor->proxy_op.is_send != 0 ? NcclRecordKind::send : NcclRecordKind::receive;
    event->record.channel = descriptor->proxy_op.channel;
    event->record.peer = descriptor->proxy_op.peer;
  } else if (type == proxy_step) {
    event->record.step = descriptor->proxy_step.step;
  } else if (type == kernel_channel) {
    event->record.kind = NcclRecordKind::channel;
    event->record.channel = descriptor->kernel_channel.channel;
    event->timer_begin = descriptor->kernel_channel.timer_ns;
    communicator->see_timer(event->timer_begin);
  }
  event->record.work = event->work;
  *handle = event.release();
  return success;
}

/// Begins to move when what it waits for is there: data of the device, or room at the peer.
void set_state(Event& event, int state, const StateArguments* arguments) {
  if (event.type == kernel_channel && state == kernel_channel_stop && arguments != nullptr) {
    event.timer_end = arguments->kernel_channel.timer_ns;
    event.has_end = true;
    event.communicator->see_timer(event.timer_end);
  }
  if (event.type != proxy_step) return;
  if (state == step_send_wait || state == step_receive_wait) event.record.begin_ns = now_ns();
  const bool says_bytes = state == step_send_wait || state == step_receive_flush_wait || state == step_receive_gpu_wait;
  if (says_bytes && arguments != nullptr && arguments->proxy_step.bytes > 0)
    event.record.bytes = static_cast<std::int64_t>(arguments->proxy_step.bytes);
}

int record(void* handle, int state, StateArguments* arguments) {
  if (handle != nullptr) set_state(*static_cast<Event*>(handle), state, arguments);
  return success;
}

int stop(void* handle) {
  auto* event = static_cast<Event*>(handle);
  if (event == nullptr) return success;
  if (!event->of_another_process && event->type == proxy_step) {
    event->record.end_ns = now_ns();
    event->communicator->keep(event->record);
  }
  if (!event->of_another_process && event->type == kernel_channel && event->has_end) {
    event->record.begin_ns = event->communicator->host_time(event->timer_begin);
    event->record.end_ns = event->communicator->host_time(std::max(event->timer_begin, event->timer_end));
    event->communicator->keep(event->record);
  }
  if (event->type != collective && event->type != message) release(event);
  return success;
}

int finalize(void*) { return success; }

}  // namespace

}  // namespace rankscope::comm::profiler

#pragma GCC visibility push(default)
extern "C" {

rankscope::comm::profiler::Plugin4 ncclProfiler_v4 = {
    "rankscope",
    [](void** context, int* mask, const char* name, std::uint64_t, int, int, int, rankscope::comm::profiler::Log) {
      return rankscope::comm::profiler::open(context, mask, name);
    },
    rankscope::comm::profiler::start<std::uint8_t>,
    rankscope::comm::profiler::stop,
    rankscope::comm::profiler::record,
    rankscope::comm::profiler::finalize};

rankscope::comm::profiler::Plugin5 ncclProfiler_v5 = {
    "rankscope",
    [](void** context, std::uint64_t, int* mask, const char* name, int, int, int, rankscope::comm::profiler::Log) {
      return rankscope::comm::profiler::open(context, mask, name);
    },
    rankscope::comm::profiler::start<std::uint64_t>,
    rankscope::comm::profiler::stop,
    rankscope::comm::profiler::record,
    rankscope::comm::profiler::finalize};

int rankscope_take_nccl_records(const char* communicator, rankscope::comm::NcclRecord* records, int most,
                                std::int64_t* lost) {
  auto& of = rankscope::comm::profiler::registry().of(communicator);
  const std::lock_guard lock(of.mutex);
  const int count = std::min(most, static_cast<int>(of.records.size()));
  std::copy_n(of.records.begin(), count, records);
  of.records.erase(of.records.begin(), of.records.begin() + count);
  if (lost != nullptr) *lost = std::exchange(of.lost, 0);
  return count;
}
}
#pragma GCC visibility pop
