// The dispatch on queues, with a device whose work ends when the test says so.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "engine/base/host/clock.hpp"
#include "engine/execute/run/dispatch.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace std::chrono_literals;

namespace {

/// A signal that is given once.
class Signal {
 public:
  void give() {
    const std::lock_guard lock(mutex_);
    given_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return given_; });
  }
  bool is_given() {
    const std::lock_guard lock(mutex_);
    return given_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool given_ = false;
};

/// The end of an op's work, and a hold of the thread that reads its time.
struct HeldWork {
  Signal done, reads_time, may_read_time;
};

using HeldWorks = std::array<HeldWork, 2>;

class WorkEnd final : public Moment {
 public:
  explicit WorkEnd(HeldWork& work) : work_(work) {}
  bool reached() const override { return work_.done.is_given(); }
  void wait() const override { work_.done.wait(); }
  std::int64_t time_ns() const override {
    work_.reads_time.give();
    work_.may_read_time.wait();
    return monotonic_ns();
  }

 private:
  HeldWork& work_;
};

/// A mark on a device whose clock is wrong by a fixed time.
class WrongTime final : public Moment {
 public:
  explicit WrongTime(std::int64_t error_ns) : time_ns_(monotonic_ns() + error_ns) {}
  bool reached() const override { return true; }
  void wait() const override {}
  std::int64_t time_ns() const override { return time_ns_; }

 private:
  const std::int64_t time_ns_;
};

using MakeMark = std::function<Mark()>;

class TestQueue final : public Queue {
 public:
  explicit TestQueue(MakeMark make_mark) : make_mark_(std::move(make_mark)) {}
  void* handle() const override { return nullptr; }
  void copy(void*, const void*, std::int64_t) override {}
  void fill(void*, std::uint8_t, std::int64_t) override {}
  void sum(DType, std::span<void* const>, std::span<const void* const>, std::int64_t) override {}
  Mark mark() override { return make_mark_(); }
  void wait_for(const Mark&) override {}

 private:
  const MakeMark make_mark_;
};

class TestDevice final : public Device {
 public:
  explicit TestDevice(MakeMark make_mark) : make_mark_(std::move(make_mark)) {}
  std::string_view name() const override { return "test"; }
  bool is_host() const override { return false; }
  void use() override {}
  Memory reserve(std::int64_t) override { return {}; }
  Memory reserve_host(std::int64_t) override { return {}; }
  std::unique_ptr<Queue> make_queue() override { return std::make_unique<TestQueue>(make_mark_); }
  std::int64_t context_bytes() const override { return 0; }
  bool fit_clock() override { return true; }
  std::int64_t clock_uncertainty_ns() const override { return 0; }

 private:
  const MakeMark make_mark_;
};

}  // namespace

TEST_CASE("a run on queues ends after the work of its last op, also if an op is launched while ends are read") {
  RankProgram program;
  program.ops.push_back({*parse_token("F:c0:m0"), GroupKind::self, -1, {}, {}, {}});
  program.ops.push_back({*parse_token("B:c0:m0"), GroupKind::self, -1, {}, {}, {}});
  HeldWorks works;
  std::size_t marks = 0;
  TestDevice device([&] { return std::make_shared<WorkEnd>(works.at(marks++)); });
  LaneQueues queues(device, program);
  std::atomic<int> reported = 0;
  DispatchCalls calls;
  calls.launch = [](OpIndex, std::uint32_t) { return OpOutcome{}; };
  calls.began = calls.ended = [](const Span&, OpIndex) {};
  calls.done = [&](const FinishedOp&) { ++reported; };
  const auto dispatch = dispatch_on_queues(program, 0, device, queues, false, calls);

  dispatch->begin(0, true);
  dispatch->run(0, 0);
  works[0].done.give();
  works[0].reads_time.wait();  // no op was pending when the reporter looked
  dispatch->run(1, 0);
  auto end = std::async(std::launch::async, [&] { dispatch->end(false); });
  std::this_thread::sleep_for(50ms);  // until it waits for the reporter
  works[0].may_read_time.give();
  CHECK(end.wait_for(300ms) == std::future_status::timeout);
  works[1].may_read_time.give();
  works[1].done.give();
  end.get();
  CHECK(reported == 2);
}

TEST_CASE("an op begins after the ops that it depends on have ended, also if the device's clock is wrong") {
  constexpr std::int64_t error_ns = -50'000'000;
  RankProgram program;
  program.ops.push_back({*parse_token("COPY.offload:c0:i0"), GroupKind::self, -1, {}, {}, {}});
  program.ops.push_back({*parse_token("F:c0:m0"), GroupKind::self, -1, {}, {}, {0}});
  TestDevice device([&] { return std::make_shared<WrongTime>(error_ns); });
  LaneQueues queues(device, program);
  std::map<OpIndex, FinishedOp> finished;
  DispatchCalls calls;
  constexpr auto launch_time = 5ms;
  calls.launch = [&](OpIndex, std::uint32_t) {
    std::this_thread::sleep_for(launch_time);
    return OpOutcome{};
  };
  calls.began = calls.ended = [](const Span&, OpIndex) {};
  calls.done = [&](const FinishedOp& op) { finished[op.op] = op; };
  const auto dispatch = dispatch_on_queues(program, 0, device, queues, true, calls);
  dispatch->begin(0, true);
  const std::int64_t begin = monotonic_ns();
  dispatch->run(0, 0);
  dispatch->run(1, 0);
  dispatch->end(false);
  CHECK(finished.at(0).span.begin_ns >= begin);
  CHECK(finished.at(1).span.begin_ns >= finished.at(0).span.end_ns);
  // Measured alone, between two marks of the same clock.
  CHECK(finished.at(1).cost_ns >= std::chrono::nanoseconds(launch_time).count());
}
