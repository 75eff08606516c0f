// The profiler plug-in through its C interface, as NCCL drives it: parents stopped long before their children, events
// of several threads and versions, steps of other processes.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "engine/comm/nccl_profiler/interface.hpp"
#include "engine/comm/nccl_profiler/record.hpp"
#include "tests/catch.hpp"

using namespace rankscope::comm;
using namespace rankscope::comm::profiler;

namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <class Symbol>
Symbol* symbol(const char* name) {
  void* library = dlopen(RANKSCOPE_NCCL_PROFILER, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  auto* found = reinterpret_cast<Symbol*>(dlsym(library, name));
  REQUIRE(found != nullptr);
  return found;
}

std::vector<NcclRecord> take(const std::string& communicator, int most = 100, std::int64_t* lost = nullptr) {
  std::vector<NcclRecord> records(static_cast<std::size_t>(most));
  records.resize(static_cast<std::size_t>(
      symbol<TakeNcclRecords>(take_nccl_records)(communicator.c_str(), records.data(), most, lost)));
  return records;
}

/// Either version behind the same calls.
template <class Plugin, class Described>
class Driver {
 public:
  Driver(const char* symbol_name, const std::string& communicator) : plugin_(*symbol<Plugin>(symbol_name)) {
    if constexpr (std::is_same_v<Plugin, Plugin4>)
      CHECK(plugin_.init(&context_, &mask_, communicator.c_str(), 7, 1, 2, 0, nullptr) == 0);
    else
      CHECK(plugin_.init(&context_, 7, &mask_, communicator.c_str(), 1, 2, 0, nullptr) == 0);
  }
  ~Driver() { plugin_.finalize(context_); }
  int mask() const { return mask_; }

  void* work(EventType type) {
    Described d = described(type, nullptr);
    return start(d);
  }
  void* channel(void* parent, int channel, std::uint64_t timer_ns) {
    Described d = described(kernel_channel, parent);
    d.kernel_channel.channel = static_cast<std::uint8_t>(channel);
    d.kernel_channel.timer_ns = timer_ns;
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
  void state(void* event, State state, std::uint64_t number) {
    StateArguments arguments{};
    arguments.proxy_step.bytes = number;  // or the timer: the two lie in the same place
    CHECK(plugin_.record(event, state, &arguments) == 0);
  }
  void stop(void* event) { CHECK(plugin_.stop(event) == 0); }

 private:
  Described described(EventType type, void* parent) {
    Described d;
    std::fill_n(reinterpret_cast<unsigned char*>(&d), sizeof d, static_cast<unsigned char>(0xA5));  // as NCCL's stack
    d.type = static_cast<decltype(d.type)>(type);
    d.parent = parent;
    d.rank = 0;
    return d;
  }
  void* start(Described& d) {
    void* event = nullptr;
    CHECK(plugin_.start(context_, &event, &d) == 0);
    return event;
  }
  Plugin& plugin_;
  void* context_ = nullptr;
  int mask_ = 0;
};
using Driver4 = Driver<Plugin4, Descriptor4>;
using Driver5 = Driver<Plugin5, Descriptor5>;

template <class D>
void check_channels(D&& nccl, const std::string& name) {
  CHECK((nccl.mask() & kernel_channel) != 0);
  CHECK((nccl.mask() & collective) != 0);
  // The device's timer is an hour and 5 µs behind the host's clock; NCCL tells of the events some time after they were.
  const std::int64_t behind = 3'600'000'005'000;
  void* first = nccl.work(collective);
  nccl.stop(first);  // enqueued; its channels run later
  void* second = nccl.work(message);
  nccl.stop(second);
  const std::int64_t begin = now_ns();
  const auto timer = [&](std::int64_t host_ns) { return static_cast<std::uint64_t>(host_ns - behind); };
  void* late = nccl.channel(second, 5, timer(begin + 2000));
  void* a = nccl.channel(first, 0, timer(begin - 3000));
  void* b = nccl.channel(first, 1, timer(begin - 2500));
  nccl.state(b, kernel_channel_stop, timer(begin - 500));
  nccl.stop(b);  // before a, which began before it
  nccl.state(a, kernel_channel_stop, timer(begin - 1000));
  nccl.stop(a);
  nccl.stop(late);  // without an end: nobody knows when
  const auto records = take(name);
  REQUIRE(records.size() == 2);
  CHECK(records[0].work == 0);
  CHECK(records[0].channel == 1);
  CHECK(records[1].channel == 0);
  for (const NcclRecord& record : records) {
    CHECK(record.kind == NcclRecordKind::channel);
    CHECK(record.peer == -1);
  }
  // Lengths are the device's own; where they lie on the host's clock is right but for the quickest telling.
  CHECK(records[0].end_ns - records[0].begin_ns == 2000);
  CHECK(records[1].end_ns - records[1].begin_ns == 2000);
  CHECK(records[0].begin_ns - records[1].begin_ns == 500);
  CHECK(records[1].begin_ns >= begin - 5000);
  CHECK(records[1].end_ns <= now_ns());
}

}  // namespace

TEST_CASE("channels of a collective become records of it, on the host's clock, through both versions") {
  check_channels(Driver4("ncclProfiler_v4", "channels 4"), "channels 4");
  check_channels(Driver5("ncclProfiler_v5", "channels 5"), "channels 5");
}

TEST_CASE("steps over the network say their channel, peer and bytes, and go on after their collective was stopped") {
  Driver5 nccl("ncclProfiler_v5", "steps");
  void* skipped = nccl.work(collective);
  void* of = nccl.work(collective);
  nccl.stop(skipped);
  nccl.stop(of);
  void* send = nccl.proxy(of, 3, 1, true);
  void* receive = nccl.proxy(of, 4, 1, false);
  std::thread proxy_thread([&] {
    for (int number = 0; number < 2; ++number) {
      void* out = nccl.step(send, number);
      void* in = nccl.step(receive, number);
      nccl.state(out, step_send_gpu_wait, 0);
      nccl.state(in, step_receive_wait, 0);
      nccl.state(out, step_send_wait, 1000 + static_cast<std::uint64_t>(number));
      nccl.state(in, step_receive_gpu_wait, 2000);
      nccl.stop(in);
      nccl.stop(out);
    }
  });
  proxy_thread.join();
  nccl.stop(send);
  nccl.stop(receive);
  const auto records = take("steps");
  REQUIRE(records.size() == 4);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const NcclRecord& r = records[i];
    CHECK(r.work == 1);
    CHECK(r.peer == 1);
    CHECK(r.step == static_cast<int>(i / 2));
    CHECK(r.kind == (i % 2 == 0 ? NcclRecordKind::receive : NcclRecordKind::send));
    CHECK(r.channel == (i % 2 == 0 ? 4 : 3));
    CHECK(r.bytes == (i % 2 == 0 ? 2000 : 1000 + static_cast<std::int64_t>(i / 2)));
    CHECK(r.begin_ns <= r.end_ns);
  }
}

TEST_CASE("an operation of another process is left alone, and so is what has no parent or is of an unknown kind") {
  Driver5 nccl("ncclProfiler_v5", "strangers");
  void* theirs = nccl.proxy(reinterpret_cast<void*>(0x10), 0, 1, true, getpid() + 1);  // their address, not ours
  void* step = nccl.step(theirs, 0);
  nccl.state(step, step_send_wait, 100);
  nccl.stop(step);
  nccl.stop(theirs);
  void* orphan = nccl.channel(nullptr, 0, 1000);
  nccl.state(orphan, kernel_channel_stop, 2000);
  nccl.stop(orphan);
  void* unknown = nccl.work(static_cast<EventType>(1 << 13));
  CHECK(unknown == nullptr);
  nccl.state(unknown, step_send_wait, 0);
  nccl.stop(unknown);
  CHECK(take("strangers").empty());
}

TEST_CASE("records that nobody takes are dropped beyond a limit, and counted") {
  Driver5 nccl("ncclProfiler_v5", "flood");
  void* work = nccl.work(collective);
  nccl.stop(work);
  void* op = nccl.proxy(work, 0, 1, true);
  for (int i = 0; i < (1 << 16) + 10; ++i) nccl.stop(nccl.step(op, i));
  nccl.stop(op);
  std::int64_t lost = 0;
  CHECK(take("flood", 1 << 17, &lost).size() == 1 << 16);
  CHECK(lost == 10);
  CHECK(take("flood", 10, &lost).empty());
  CHECK(lost == 0);
}
