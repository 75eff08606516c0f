// Drives the profiler plug-in through its C interface, as NCCL does: parents that stop long before their children,
// events of several threads and versions, steps of other processes, events that have ended or never began.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "engine/execute/comm/device_timer.hpp"
#include "engine/execute/comm/nccl_profiler_interface.hpp"
#include "engine/execute/comm/nccl_recorder.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::comm;
using namespace rankscope::comm::profiler;

namespace {

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// This is rank 5, the second of three.
GroupSetting some_group() {
  GroupSetting setting;
  setting.members = {2, 5, 7};
  setting.index = 1;
  return setting;
}

/// The symbol that NCCL finds in the program by this name.
template <class Symbol>
Symbol& shown(const char* name) {
  auto* found = static_cast<Symbol*>(dlsym(dlopen(nullptr, RTLD_NOW | RTLD_LOCAL), name));
  REQUIRE(found != nullptr);
  return *found;
}

/// Exists while NCCL enqueues the works of a call.
class Call {
 public:
  Call(NcclRecorder& recorder, int works, std::optional<std::uint64_t> call) : recorder_(recorder) {
    recorder_.begin_call({works, call});
  }
  ~Call() { recorder_.end_call(); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  NcclRecorder& recorder_;
};

/// The same calls for either version of the interface.
template <class Plugin, class Described>
class Driver {
 public:
  Driver(const char* symbol, const char* communicator) : plugin_(shown<Plugin>(symbol)) {
    if constexpr (std::is_same_v<Plugin, Plugin4>)
      CHECK(plugin_.init(&context_, &mask_, communicator, 7, 1, 3, 1, nullptr) == 0);
    else
      CHECK(plugin_.init(&context_, 7, &mask_, communicator, 1, 3, 1, nullptr) == 0);
  }
  ~Driver() { plugin_.finalize(context_); }
  int mask() const { return mask_; }

  void* work(int channels = 2) {
    Described d = described(collective, nullptr);
    d.collective.channels = static_cast<std::uint8_t>(channels);
    return start(d);
  }
  void* send(int peer) {
    Described d = described(message, nullptr);
    d.message.function = "Send";
    d.message.peer = peer;
    d.message.channels = 1;
    return start(d);
  }
  void* channel(void* parent, int channel, std::int64_t timer_ns) {
    Described d = described(kernel_channel, parent);
    d.kernel_channel = {static_cast<std::uint8_t>(channel), static_cast<std::uint64_t>(timer_ns)};
    return start(d);
  }
  void* proxy(void* parent, int channel, int peer, bool is_send, pid_t pid = getpid()) {
    Described d = described(proxy_op, parent);
    d.proxy_op = {pid, static_cast<std::uint8_t>(channel), peer, 2, 4096, is_send ? 1 : 0};
    return start(d);
  }
  void* step(void* parent, int number) {
    Described d = described(proxy_step, parent);
    d.proxy_step.step = number;
    return start(d);
  }
  void* begin(std::uint64_t type) { return start(described(type, nullptr)); }
  /// `number`: the bytes or the timer, which are at the same position.
  void state(void* event, State state, std::int64_t number) {
    StateArguments arguments{};
    arguments.kernel_channel.timer_ns = static_cast<std::uint64_t>(number);
    CHECK(plugin_.record(event, state, &arguments) == 0);
  }
  void stop(void* event) { CHECK(plugin_.stop(event) == 0); }
  void end_channel(void* event, std::int64_t timer_ns) {
    state(event, kernel_channel_stop, timer_ns);
    stop(event);
  }

 private:
  Described described(std::uint64_t type, void* parent) {
    Described d;
    std::memset(static_cast<void*>(&d), 0xA5, sizeof d);  // uninitialised, like NCCL's stack
    d.type = static_cast<decltype(d.type)>(type);
    d.parent = parent;
    return d;
  }
  void* start(Described d) {
    void* event = &d;  // any value: the plug-in must overwrite it
    CHECK(plugin_.start(context_, &event, &d) == 0);
    CHECK(event != &d);
    return event;
  }
  Plugin& plugin_;
  void* context_ = nullptr;
  int mask_ = 0;
};
using Driver4 = Driver<Plugin4, Descriptor4>;
using Driver5 = Driver<Plugin5, Descriptor5>;

template <class D>
void check_channels(const char* symbol) {
  NcclRecorder recorder(some_group());
  D nccl(symbol, recorder.name());
  CHECK((nccl.mask() & kernel_channel) != 0);
  CHECK((nccl.mask() & collective) != 0);
  CHECK_FALSE(recorder.awaits_more());
  // The device's timer is an hour and 5 µs behind the host's clock; NCCL reports events some time after they happened.
  const std::int64_t behind = 3'600'000'005'000;
  void *first = nullptr, *to_2 = nullptr, *to_7 = nullptr;
  {
    const Call call(recorder, 1, 70);
    first = nccl.work(2);
    nccl.stop(first);  // enqueued; its channels run later
  }
  {
    const Call call(recorder, 2, 71);
    to_2 = nccl.send(0);
    to_7 = nccl.send(2);
    nccl.stop(to_2);
    nccl.stop(to_7);
  }
  CHECK(recorder.awaits_more());
  const std::int64_t begin = monotonic_ns(), timer = begin - behind;
  void* late = nccl.channel(to_7, 5, timer + 2000);
  void* a = nccl.channel(first, 0, timer - 3000);
  void* b = nccl.channel(first, 1, timer - 2500);
  nccl.end_channel(b, timer - 500);  // before a, which began earlier
  nccl.end_channel(a, timer - 1000);
  CHECK(recorder.awaits_more());  // those of the messages
  nccl.stop(late);                // without a recorded end, the end is unknown
  nccl.end_channel(nccl.channel(to_2, 5, timer - 900), timer - 400);
  CHECK_FALSE(recorder.awaits_more());
  const auto phases = recorder.take();
  REQUIRE(phases.size() == 3);
  CHECK(phases[0].call == 70);
  CHECK(phases[0].phase.chunk == 1);
  CHECK(phases[1].call == 70);
  CHECK(phases[1].phase.chunk == 0);
  for (const LatePhase& late_phase : phases) {
    CHECK(late_phase.phase.phase == 0);
    CHECK(late_phase.phase.bytes == -1);
    const bool is_message = late_phase.call == 71;
    CHECK(late_phase.phase.from == (is_message ? 5 : -1));
    CHECK(late_phase.phase.to == (is_message ? 2 : -1));
  }
  CHECK(phases[2].call == 71);
  // Durations are exact; the position on the host's clock is off by the shortest reporting delay at most.
  CHECK(phases[0].phase.end_ns - phases[0].phase.begin_ns == 2000);
  CHECK(phases[1].phase.end_ns - phases[1].phase.begin_ns == 2000);
  CHECK(phases[0].phase.begin_ns - phases[1].phase.begin_ns == 500);
  CHECK(phases[1].phase.begin_ns >= begin - 5000);
  CHECK(phases[1].phase.end_ns <= monotonic_ns());
  CHECK(recorder.take().empty());
}

}  // namespace

TEST_CASE("channels of a collective become phases of its call, on the host's clock, through both versions") {
  check_channels<Driver4>("ncclProfiler_v4");
  check_channels<Driver5>("ncclProfiler_v5");
}

TEST_CASE(
    "steps over the network report their channel, peer and bytes, and continue after their collective was stopped") {
  NcclRecorder recorder(some_group());
  Driver5 nccl("ncclProfiler_v5", recorder.name());
  {
    const Call call(recorder, 1, {});
    void* unwanted = nccl.work();
    CHECK(unwanted == nullptr);
    CHECK(nccl.proxy(unwanted, 3, 2, true) == nullptr);
  }
  recorder.begin_call({1, 9});
  void* of = nccl.work();
  nccl.stop(of);
  recorder.end_call();
  void* send = nccl.proxy(of, 3, 2, true);
  void* receive = nccl.proxy(of, 4, 0, false);
  std::thread proxy_thread([&] {
    for (int number = 0; number < 2; ++number) {
      void* out = nccl.step(send, number);
      void* in = nccl.step(receive, number);
      nccl.state(out, step_send_gpu_wait, 0);
      nccl.state(in, step_receive_wait, 0);
      nccl.state(out, step_send_wait, 1000 + number);
      nccl.state(in, step_receive_gpu_wait, 2000);
      nccl.stop(in);
      nccl.stop(out);
    }
  });
  proxy_thread.join();
  nccl.stop(send);
  nccl.stop(receive);
  const auto phases = recorder.take();
  REQUIRE(phases.size() == 4);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const bool is_receive = i % 2 == 0;
    const PhaseRecord& phase = phases[i].phase;
    CHECK(phases[i].call == 9);
    CHECK(phase.phase == static_cast<int>(i / 2) + 1);
    CHECK(phase.from == (is_receive ? 2 : 5));
    CHECK(phase.to == (is_receive ? 5 : 7));
    CHECK(phase.chunk == (is_receive ? 4 : 3));
    CHECK(phase.bytes == (is_receive ? 2000 : 1000 + static_cast<std::int64_t>(i / 2)));
    CHECK(phase.begin_ns <= phase.end_ns);
  }
}

TEST_CASE("events that are over, were never begun, are another process's or of an unknown kind are ignored") {
  NcclRecorder recorder(some_group());
  Driver5 nccl("ncclProfiler_v5", recorder.name());
  CHECK(nccl.work() == nullptr);  // no call has begun
  recorder.begin_call({1, 1});
  void* work = nccl.work(1);
  CHECK(nccl.work() == nullptr);  // more works than the call has
  recorder.end_call();
  // An object of another process, at an address that is one of our event numbers.
  void* theirs = nccl.proxy(work, 0, 1, true, getpid() + 1);
  CHECK(theirs == nullptr);
  CHECK(nccl.step(theirs, 0) == nullptr);
  CHECK(nccl.channel(nullptr, 0, 1000) == nullptr);
  CHECK(nccl.channel(reinterpret_cast<void*>(std::uintptr_t{0x7f0012345678}), 0, 1000) == nullptr);
  CHECK(nccl.step(work, 0) == nullptr);  // a step's parent must be an operation
  CHECK(nccl.begin(1 << 13) == nullptr);
  for (void* never : {static_cast<void*>(nullptr), reinterpret_cast<void*>(std::uintptr_t{0x7f0012345678})}) {
    nccl.state(never, kernel_channel_stop, 2000);
    nccl.stop(never);
  }
  void* channel = nccl.channel(work, 0, 1000);
  nccl.end_channel(channel, 2000);
  nccl.end_channel(channel, 3000);  // a second time
  CHECK(recorder.take().size() == 1);
  CHECK_FALSE(recorder.awaits_more());

  // A communicator that is not one of ours, and one without a name.
  Driver5 stranger("ncclProfiler_v5", "torch"), nameless("ncclProfiler_v5", nullptr);
  CHECK(stranger.work() == nullptr);
  CHECK(nameless.work() == nullptr);
}

TEST_CASE("a work that NCCL does not report is unknown, and later reports are assigned to their own works") {
  NcclRecorder recorder(some_group());
  Driver5 nccl("ncclProfiler_v5", recorder.name());
  const auto run = [&](void* work, std::int64_t begin) { nccl.end_channel(nccl.channel(work, 0, begin), begin + 100); };
  for (std::uint64_t number = 0; number < 6; ++number) {
    const Call call(recorder, 1, number);
    if (number % 3 != 1) run(nccl.work(1), static_cast<std::int64_t>(1000 * number));
  }
  {
    const Call call(recorder, 3, 6);  // three messages, of which one is reported
    run(nccl.send(0), 6000);
  }
  {
    const Call call(recorder, 1, 7);
    run(nccl.work(1), 7000);
  }
  std::vector<std::uint64_t> calls;
  for (const LatePhase& phase : recorder.take()) calls.push_back(phase.call);
  CHECK(calls == std::vector<std::uint64_t>{0, 2, 3, 5, 6, 7});
  CHECK_FALSE(recorder.awaits_more());
}

TEST_CASE("events of a destroyed communicator are ignored, and the number of phases not taken is bounded") {
  void *work = nullptr, *channel = nullptr;
  {
    NcclRecorder recorder(some_group());
    Driver5 nccl("ncclProfiler_v5", recorder.name());
    recorder.begin_call({1, 1});
    work = nccl.work(1);
    recorder.end_call();
    channel = nccl.channel(work, 0, 1000);
    void* op = nccl.proxy(work, 0, 0, true);
    for (int i = 0; i < (1 << 16) + 10; ++i) nccl.stop(nccl.step(op, i));
    CHECK(recorder.take().size() == 1 << 16);
    CHECK(recorder.take().empty());
  }
  NcclRecorder next(some_group());
  Driver5 nccl("ncclProfiler_v5", next.name());
  nccl.end_channel(channel, 2000);
  CHECK(nccl.channel(work, 0, 1000) == nullptr);
  CHECK(next.take().empty());
}

TEST_CASE("a device's timer is mapped to the host's clock by the recent event with the shortest delay") {
  DeviceTimer timer;
  timer.add_sample(10'000, 1'000);
  timer.add_sample(12'500, 4'500);  // 8 µs behind: this report's delay is shorter than the first one's
  timer.add_sample(20'000, 5'000);
  CHECK(timer.on_host(4'500) == 12'500);
  // The timer runs fast: a second later it has gained 3 µs, and after two more seconds the old samples no longer count.
  timer.add_sample(1'000'000'000 + 10'001, 1'000'000'000 + 10'001 - 5'000);
  CHECK(timer.on_host(4'500) == 9'500);
  timer.add_sample(3'100'000'000, 3'100'000'000 - 6'000);
  timer.add_sample(4'200'000'000, 4'200'000'000 - 7'000);
  CHECK(timer.on_host(0) == 6'000);
  timer.add_sample(9'000'000'000, 9'000'000'000 - 7'500);
  CHECK(timer.on_host(0) == 7'500);
}
