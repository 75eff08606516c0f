#include "tests/engine/execute/comm/nccl/emulated_profiler.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "engine/execute/comm/nccl_profiler_interface.hpp"
#include "tests/engine/execute/comm/nccl/emulated_state.hpp"

namespace emulated_nccl {
namespace {

using namespace rankscope::comm::profiler;

/// The device's timer is so far behind the host's clock.
constexpr std::int64_t timer_behind_ns = 3'600'000'005'000;
// Types that are only begun and ended.
enum OtherType : std::uint64_t {
  group = 1 << 0,
  group_call = 1 << 8,
  collective_call = 1 << 9,
  message_call = 1 << 10
};

std::uint64_t drawn() {
  static std::atomic<std::uint64_t> state{1};
  std::uint64_t x = state.fetch_add(0x9E3779B97F4A7C15u);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// NCCL's own thread: does what is due, one after the other.
class ProxyThread {
 public:
  ProxyThread() {
    std::thread([this] { run(); }).detach();
  }
  void at(std::int64_t due_ns, std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      due_.emplace(due_ns, std::move(work));
    }
    changed_.notify_all();
  }
  void hold(bool hold) {
    {
      const std::lock_guard lock(mutex_);
      is_held_ = hold;
    }
    changed_.notify_all();
  }
  bool has_done_all() {
    const std::lock_guard lock(mutex_);
    return due_.empty() && !is_busy_;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      const std::int64_t now = host_ns();
      if (due_.empty() || is_held_) {
        changed_.wait(lock);
      } else if (const auto next = due_.begin(); next->first > now) {
        changed_.wait_for(lock, std::chrono::nanoseconds(next->first - now));
      } else {
        const auto work = std::move(next->second);
        due_.erase(next);
        is_busy_ = true;
        lock.unlock();
        work();
        lock.lock();
        is_busy_ = false;
      }
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<std::int64_t, std::function<void()>> due_;
  bool is_held_ = false, is_busy_ = false;
};
ProxyThread& proxy_thread() {
  static ProxyThread* const one = new ProxyThread;  // outlives the program's statics
  return *one;
}

struct Notebook {
  std::mutex mutex;
  ProfilerBehaviour behaviour;
  std::vector<ReportedEvent> reported;
};
Notebook& notebook() {
  static Notebook* const one = new Notebook;
  return *one;
}
ProfilerBehaviour behaviour() {
  const std::lock_guard lock(notebook().mutex);
  return notebook().behaviour;
}

template <class Plugin, class Described>
class OfVersion final : public Profiler {
 public:
  OfVersion(Plugin& plugin, const char* communicator, std::uint64_t id, int ranks, int rank)
      : plugin_(plugin), ranks_(ranks), rank_(rank), how_(behaviour()) {
    if constexpr (std::is_same_v<Plugin, Plugin4>)
      plugin_.init(&context_, &mask_, communicator, id, 1, ranks, rank, nullptr);
    else
      plugin_.init(&context_, id, &mask_, communicator, 1, ranks, rank, nullptr);
  }
  ~OfVersion() override { plugin_.finalize(context_); }

  void enqueued(ProfiledWork& work) override {
    work.number = works_++;
    const bool is_message = work.peer >= 0;
    void *outermost = nullptr, *call = nullptr;
    if constexpr (std::is_same_v<Plugin, Plugin5>) {
      outermost = start(described(group_call, nullptr));
      call = start(described(is_message ? message_call : collective_call, outermost));
    }
    void* const plan = start(described(group, nullptr));
    Described d = described(is_message ? message : collective, std::is_same_v<Plugin, Plugin5> ? call : plan);
    if (is_message) {
      d.message = {work.function.c_str(),
                   nullptr,
                   "ncclFloat32",
                   work.bytes,
                   work.peer,
                   static_cast<std::uint8_t>(how_.channels),
                   plan};
    } else {
      d.collective.sequence = work.number;
      d.collective.function = work.function.c_str();
      d.collective.count = work.bytes;
      d.collective.channels = static_cast<std::uint8_t>(how_.channels);
    }
    const bool is_reported = how_.unreported_every == 0 || (work.number + 1) % how_.unreported_every != 0;
    if (is_reported && (mask_ & static_cast<int>(kernel_channel))) work.event = start(d);
    for (void* const done : {work.event, plan, call, outermost}) stop(done);  // it is enqueued
  }

  void began(ProfiledWork& work) override {
    work.begin_ns = host_ns();
    work.channels = std::make_shared<std::vector<Channel>>(static_cast<std::size_t>(how_.channels));
    for (int c = 0; c < how_.channels; ++c) {
      Channel& channel = (*work.channels)[static_cast<std::size_t>(c)];
      channel.begin_ns = work.begin_ns + 1000 * c;
      channel.told_ns = channel.begin_ns + delay() / 8;
      proxy_thread().at(channel.told_ns, [this, work, c, begin = channel.begin_ns, all = work.channels] {
        Described d = described(kernel_channel, work.event);
        d.kernel_channel = {static_cast<std::uint8_t>(c), static_cast<std::uint64_t>(begin - timer_behind_ns)};
        Channel& reported = (*all)[static_cast<std::size_t>(c)];
        reported.event = start(d);
        reported.late_ns = host_ns() - begin;
      });
    }
  }

  void ended(const ProfiledWork& work) override {
    const std::int64_t now = host_ns();
    for (int c = 0; c < how_.channels; ++c) {
      const Channel& channel = (*work.channels)[static_cast<std::size_t>(c)];
      const std::int64_t end = std::max(channel.begin_ns, now - 1000 * c);
      proxy_thread().at(std::max(now + delay(), channel.told_ns + 1), [this, work, c, end, all = work.channels] {
        const Channel& of = (*all)[static_cast<std::size_t>(c)];
        StateArguments arguments{};
        arguments.kernel_channel.timer_ns = static_cast<std::uint64_t>(end - timer_behind_ns);
        if (of.event == nullptr) return;
        plugin_.record(of.event, kernel_channel_stop, &arguments);
        const std::int64_t late_ns = std::min(of.late_ns, host_ns() - end);
        plugin_.stop(of.event);
        report({work.function, rank_, work.number, c, -1, work.peer, false, 0, of.begin_ns, end, late_ns});
      });
    }
    if (!how_.network) return;
    for (int c = 0; c < how_.channels; ++c) {
      const bool is_message = work.peer >= 0;
      const int next = is_message ? work.peer : (rank_ + 1) % ranks_;
      const int previous = is_message ? work.peer : (rank_ + ranks_ - 1) % ranks_;
      if (!is_message || work.function == "Send")
        proxy_thread().at(now + delay(), [this, work, c, next] { transfer(work, c, next, true); });
      if (!is_message || work.function == "Recv")
        proxy_thread().at(now + delay(), [this, work, c, previous] { transfer(work, c, previous, false); });
    }
  }

 private:
  using Channel = ProfiledWork::Channel;

  /// Two steps of one channel, to or from a peer; and one that another process has begun.
  void transfer(const ProfiledWork& work, int channel, int peer, bool is_send) {
    Described d = described(proxy_op, work.event);
    const auto bytes = static_cast<int>(work.bytes / static_cast<std::size_t>(2 * how_.channels));
    d.proxy_op = {getpid(), static_cast<std::uint8_t>(channel), peer, 2, bytes, is_send ? 1 : 0};
    void* const op = start(d);
    Described foreign = described(proxy_op, reinterpret_cast<void*>(std::uintptr_t{0x10}));  // an address elsewhere
    foreign.proxy_op = {getpid() + 1, static_cast<std::uint8_t>(channel), peer, 1, bytes, 1};
    void* const theirs = start(foreign);
    for (int step = 0; step < 2; ++step) {
      Described s = described(proxy_step, op);
      s.proxy_step.step = step;
      void* const event = start(s);
      StateArguments arguments{};
      if (is_send) {
        state(event, step_send_gpu_wait, arguments);
        state(event, step_send_peer_wait, arguments);
      }
      arguments.proxy_step.bytes = static_cast<std::size_t>(bytes);
      const std::int64_t begin = host_ns();
      state(event, is_send ? step_send_wait : step_receive_wait, arguments);
      if (!is_send) {
        state(event, step_receive_flush_wait, arguments);
        state(event, step_receive_gpu_wait, arguments);
      }
      stop(event);
      if (event != nullptr)
        report({work.function, rank_, work.number, channel, step, peer, is_send, static_cast<std::size_t>(bytes), begin,
                host_ns(), 0});
    }
    stop(theirs);
    stop(op);
  }

  std::int64_t delay() const { return static_cast<std::int64_t>(drawn() % (1000u * how_.latest_us + 1)); }

  static Described described(std::uint64_t type, void* parent) {
    Described d;
    std::memset(static_cast<void*>(&d), 0xA5, sizeof d);  // as on NCCL's stack, where it does not set it
    d.type = static_cast<decltype(d.type)>(type);
    d.parent = parent;
    d.rank = 0;
    return d;
  }
  void* start(Described d) {
    void* event = nullptr;
    if (plugin_.start(context_, &event, &d) != 0) note("the profiler plug-in refuses an event");
    return event;
  }
  void state(void* event, int state, StateArguments& arguments) {
    if (event != nullptr) plugin_.record(event, state, &arguments);
  }
  void stop(void* event) {
    if (event != nullptr) plugin_.stop(event);
  }
  static void report(ReportedEvent event) {
    const std::lock_guard lock(notebook().mutex);
    notebook().reported.push_back(std::move(event));
  }

  Plugin& plugin_;
  const int ranks_, rank_;
  const ProfilerBehaviour how_;
  void* context_ = nullptr;
  int mask_ = 0;
  std::atomic<std::uint64_t> works_{0};
};

}  // namespace

std::int64_t host_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::shared_ptr<Profiler> Profiler::open(const char* communicator, std::uint64_t id, int ranks, int rank) {
  const char* const plugin = std::getenv("NCCL_PROFILER_PLUGIN");
  if (plugin == nullptr || std::strcmp(plugin, "STATIC_PLUGIN") != 0) return nullptr;
  void* const program = dlopen(nullptr, RTLD_NOW | RTLD_LOCAL);
  if (auto* five = static_cast<Plugin5*>(dlsym(program, "ncclProfiler_v5")); five && behaviour().version >= 5)
    return std::make_shared<OfVersion<Plugin5, Descriptor5>>(*five, communicator, id, ranks, rank);
  if (auto* four = static_cast<Plugin4*>(dlsym(program, "ncclProfiler_v4")))
    return std::make_shared<OfVersion<Plugin4, Descriptor4>>(*four, communicator, id, ranks, rank);
  return nullptr;
}

}  // namespace emulated_nccl

extern "C" {
void emulated_nccl_behave(const emulated_nccl::ProfilerBehaviour& behaviour) {
  const std::lock_guard lock(emulated_nccl::notebook().mutex);
  emulated_nccl::notebook().behaviour = behaviour;
}
void emulated_nccl_reported(std::vector<emulated_nccl::ReportedEvent>& reported) {
  const std::lock_guard lock(emulated_nccl::notebook().mutex);
  reported = std::exchange(emulated_nccl::notebook().reported, {});
}
bool emulated_nccl_has_reported_all() { return emulated_nccl::proxy_thread().has_done_all(); }
void emulated_nccl_hold_reports(bool hold) { emulated_nccl::proxy_thread().hold(hold); }
}
