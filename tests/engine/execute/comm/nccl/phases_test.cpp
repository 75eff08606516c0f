// Compares the inside of NCCL's collectives and messages, which the emulated library's proxy thread reports some time
// later, with what the emulated device did.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "engine/execute/comm/clock.hpp"
#include "tests/catch.hpp"
#include "tests/engine/execute/comm/nccl/emulated.hpp"
#include "tests/engine/execute/comm/nccl/ranks.hpp"
#include "tests/engine/execute/comm/nccl/stream_device.hpp"
#include "tests/places.hpp"
#include "tests/wait_until.hpp"

using namespace rankscope;
using namespace rankscope::test;
using namespace std::chrono_literals;
using emulated_nccl::ProfilerBehaviour;
using emulated_nccl::ReportedEvent;

namespace {

template <class Function>
Function* emulated_function(const char* name) {
  void* library = dlopen(program("librankscope_emulated_nccl.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, name));
}
void set_behaviour(const ProfilerBehaviour& behaviour) {
  emulated_function<decltype(emulated_nccl_behave)>("emulated_nccl_behave")(behaviour);
}
std::vector<ReportedEvent> reported() {
  std::vector<ReportedEvent> events;
  emulated_function<decltype(emulated_nccl_reported)>("emulated_nccl_reported")(events);
  return events;
}
bool has_reported_all() {
  return emulated_function<decltype(emulated_nccl_has_reported_all)>("emulated_nccl_has_reported_all")();
}
void hold_reports(bool hold) {
  emulated_function<decltype(emulated_nccl_hold_reports)>("emulated_nccl_hold_reports")(hold);
}

/// Sets NCCL_PROFILER_PLUGIN during its lifetime.
class ProfilerSetting {
 public:
  explicit ProfilerSetting(const char* plugin) {
    unsetenv("NCCL_PROFILER_PLUGIN");
    if (plugin != nullptr) setenv("NCCL_PROFILER_PLUGIN", plugin, 1);
    enable_nccl_profiler();
    reported();
  }
  ~ProfilerSetting() {
    unsetenv("NCCL_PROFILER_PLUGIN");
    hold_reports(false);
    set_behaviour({});
  }
};

CommOptions recording() {
  CommOptions options;
  options.record_phases = true;
  return options;
}

/// All reported phases of a rank's calls, and how many of them were known when the device had finished the calls.
struct Known {
  std::vector<LatePhase> phases;
  std::size_t at_the_end = 0;
  bool awaits_more = false;  ///< still, after the library has reported everything
};

/// Held reports are released when all ranks know what was reported at the end of their calls.
std::map<int, Known> run_calls(const std::string& algorithm, int n,
                               const std::function<void(Communicator& group, StreamQueue& queue)>& calls) {
  std::map<int, Known> known;
  std::mutex mutex;
  const auto errors = run_nccl_ranks(n, recording(), [&](World& world) {
    StreamDevice device;
    StreamQueue queue;
    std::vector<int> all;
    for (int r = 0; r < n; ++r) all.push_back(r);
    const auto group = world.group(all, Lane::data, algorithm);
    group->run_on(device, queue);
    calls(*group, queue);
    queue.mark()->wait();
    Known mine;
    mine.phases = group->late_phases();
    mine.at_the_end = mine.phases.size();
    world.exchange("all have looked");
    hold_reports(false);
    // The number of transfers is not known in advance: only the library knows when there are no more.
    if (!wait_until(60s, has_reported_all)) throw std::runtime_error("the library does not end its reports");
    mine.awaits_more = group->awaits_late_phases();
    for (const LatePhase& late : group->late_phases()) mine.phases.push_back(late);
    {
      const std::lock_guard lock(mutex);
      known[world.rank()] = std::move(mine);
    }
    world.exchange("nobody leaves before all are done");
  });
  CHECK(errors == std::vector<std::string>(static_cast<std::size_t>(n)));
  for (const auto& [rank, of_rank] : known) CHECK_FALSE(of_rank.awaits_more);
  return known;
}

/// Checks that every reported event appears exactly once, as a phase of its work's call, and that there is nothing
/// else.
void check_against(const std::vector<ReportedEvent>& events, const std::map<int, Known>& known,
                   const std::function<std::uint64_t(std::uint64_t work)>& call_of) {
  std::size_t phases = 0;
  for (const auto& [rank, of_rank] : known) phases += of_rank.phases.size();
  CHECK(phases == events.size());
  for (const ReportedEvent& event : events) {
    const bool is_kernel = event.step < 0, has_peer = event.peer >= 0;
    PhaseRecord expected;
    expected.phase = event.step + 1;
    expected.chunk = event.channel;
    const bool sends = is_kernel ? event.function == "Send" : event.is_send;
    expected.from = !has_peer ? -1 : sends ? event.rank : event.peer;
    expected.to = !has_peer ? -1 : sends ? event.peer : event.rank;
    expected.bytes = is_kernel ? -1 : static_cast<std::int64_t>(event.bytes);
    int found = 0;
    for (const LatePhase& late : known.at(event.rank).phases) {
      const PhaseRecord& p = late.phase;
      if (late.call != call_of(event.work) ||
          std::tie(p.phase, p.chunk, p.from, p.to, p.bytes) !=
              std::tie(expected.phase, expected.chunk, expected.from, expected.to, expected.bytes))
        continue;
      ++found;
      // The offset of the device's timer is known up to the shortest reporting delay, which is no longer than this
      // event's; the proxy thread's own times are on the host's clock.
      INFO(event.function << " " << event.work << " of rank " << event.rank << ", channel " << event.channel
                          << ", step " << event.step);
      if (is_kernel) {
        CHECK(p.end_ns - p.begin_ns == event.end_ns - event.begin_ns);
        CHECK(p.begin_ns >= event.begin_ns);
        CHECK(p.begin_ns <= event.begin_ns + event.late_ns);
      } else {
        CHECK(p.begin_ns >= event.begin_ns);
        CHECK(p.end_ns <= event.end_ns);
      }
    }
    CHECK(found == 1);
  }
}

}  // namespace

TEST_CASE("channels and transfers of NCCL's collectives become phases of the calls that they belong to") {
  const ProfilerSetting profiler(nullptr);
  const int n = 3, rounds = 6;
  ProfilerBehaviour behaviour;
  behaviour.version = GENERATE(4, 5);
  behaviour.network = GENERATE(false, true);
  set_behaviour(behaviour);
  const auto known = run_calls("auto", n, [&](Communicator& group, StreamQueue&) {
    static thread_local std::vector<float> data(300), gathered(900);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      group.name_calls(100 + i);
      if (i % 2 == 0) group.collective({OpKind::all_reduce, {data.data(), DType::f32, {300}}});
      if (i % 2 == 1)
        group.collective({OpKind::all_gather, {gathered.data(), DType::f32, {900}}, {data.data(), DType::f32, {300}}});
    }
  });
  const auto events = reported();
  const auto channels = static_cast<std::size_t>(behaviour.channels);
  CHECK(events.size() == n * rounds * channels * (behaviour.network ? 1 + 4 : 1));
  check_against(events, known, [](std::uint64_t work) { return 100 + work; });
}

TEST_CASE("works that NCCL does not report have no phases, and others' phases stay with their own calls") {
  const ProfilerSetting profiler(nullptr);
  const int n = 2, rounds = 9;
  ProfilerBehaviour behaviour;
  behaviour.unreported_every = 3;
  set_behaviour(behaviour);
  const auto known = run_calls("auto", n, [&](Communicator& group, StreamQueue&) {
    static thread_local std::vector<float> data(64);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      group.name_calls(i);
      group.collective(
          {OpKind::all_reduce, {data.data(), DType::f32, {64}}});  // always the same: only the time distinguishes them
    }
  });
  const auto events = reported();
  CHECK(events.size() == static_cast<std::size_t>(n * (rounds - rounds / 3) * behaviour.channels));
  check_against(events, known, [](std::uint64_t work) { return work; });
  for (const auto& [rank, of_rank] : known)
    for (const LatePhase& late : of_rank.phases) CHECK(late.call % 3 != 2);
}

TEST_CASE("phases are reported after the call has returned and the device is done, in any order") {
  const ProfilerSetting profiler(nullptr);
  ProfilerBehaviour behaviour;
  behaviour.channels = 8;
  behaviour.latest_us = 50'000;
  set_behaviour(behaviour);
  hold_reports(true);
  const auto known = run_calls("auto", 2, [](Communicator& group, StreamQueue& queue) {
    static thread_local std::vector<float> data(10);
    for (std::uint64_t i = 0; i < 3; ++i) {
      group.name_calls(i);
      queue.sleep(2ms);
      group.collective({OpKind::all_reduce, {data.data(), DType::f32, {10}}});
    }
  });
  const auto events = reported();
  CHECK(events.size() == 2 * 3 * 8);
  check_against(events, known, [](std::uint64_t work) { return work; });
  for (const auto& [rank, of_rank] : known) {
    CHECK(of_rank.at_the_end < of_rank.phases.size());
    CHECK_FALSE(
        std::is_sorted(of_rank.phases.begin(), of_rank.phases.end(), [](const LatePhase& a, const LatePhase& b) {
          return std::tie(a.call, a.phase.chunk) < std::tie(b.call, b.phase.chunk);
        }));
  }
}

TEST_CASE("messages, and collectives that are made of messages, know the peers of their channels") {
  const ProfilerSetting profiler(nullptr);
  const ProfilerBehaviour behaviour;
  set_behaviour(behaviour);
  const int n = 3;
  const auto known = run_calls("auto", n, [&](Communicator& group, StreamQueue&) {
    static thread_local std::vector<float> sent(300), received(300);
    const int me = group.index();
    group.name_calls(7);
    group.collective({OpKind::all_to_all, {sent.data(), DType::f32, {300}}, {received.data(), DType::f32, {300}}});
    group.name_calls(8);
    if (me == 0) group.send({sent.data(), DType::f32, {50}}, 2);
    if (me == 2) group.receive({received.data(), DType::f32, {50}}, 0);
  });
  const auto events = reported();
  // An all-to-all is one message to each other member and one from it.
  CHECK(events.size() == (n * (n - 1) * 2 + 2) * static_cast<std::size_t>(behaviour.channels));
  check_against(events, known, [](std::uint64_t work) { return work < 4 ? 7 : 8; });
}

TEST_CASE("a transparent collective's phases are those that it executed, without those of NCCL's messages") {
  const ProfilerSetting profiler(nullptr);
  std::array<std::size_t, 2> executed{};
  const auto known = run_calls("ring", 2, [&](Communicator& group, StreamQueue&) {
    static thread_local std::vector<float> data(10);
    group.name_calls(1);
    group.collective({OpKind::all_reduce, {data.data(), DType::f32, {10}}});
    executed[static_cast<std::size_t>(group.index())] = group.last_phases().size();
    group.name_calls(2);
    if (group.index() == 0) group.send({data.data(), DType::f32, {10}}, 1);
    if (group.index() == 1) group.receive({data.data(), DType::f32, {10}}, 0);
  });
  CHECK(executed == std::array<std::size_t, 2>{2, 2});
  const auto events = reported();
  CHECK(events.size() == 4);  // the message's channels, at both ends
  for (const auto& [rank, of_rank] : known) {
    CHECK(of_rank.phases.size() == 2);
    for (const LatePhase& late : of_rank.phases) CHECK(late.call == 2);
  }
}

TEST_CASE("the environment can switch NCCL's reports off, and a communicator that records nothing requests none") {
  const auto reduce = [](Communicator& group, StreamQueue&) {
    static thread_local std::vector<float> data(10);
    group.name_calls(1);
    group.collective({OpKind::all_reduce, {data.data(), DType::f32, {10}}});
  };
  {
    const ProfilerSetting profiler("none");
    for (const auto& [rank, of_rank] : run_calls("auto", 2, reduce)) CHECK(of_rank.phases.empty());
    CHECK(reported().empty());
  }
  const ProfilerSetting profiler(nullptr);
  const auto errors = run_nccl_ranks(2, {}, [&](World& world) {
    StreamDevice device;
    StreamQueue queue;
    const auto group = world.group({0, 1}, Lane::data, "auto");
    group->run_on(device, queue);
    reduce(*group, queue);
    queue.mark()->wait();
    world.exchange("nobody leaves before all are done");
  });
  CHECK(errors == std::vector<std::string>(2));
  CHECK(reported().empty());
}
