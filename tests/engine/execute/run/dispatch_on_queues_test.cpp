// The dispatch on queues, with a device whose work ends when the test says so.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
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

class HeldQueue final : public Queue {
 public:
  explicit HeldQueue(HeldWorks& works) : works_(works) {}
  void* handle() const override { return nullptr; }
  void copy(void*, const void*, std::int64_t) override {}
  void fill(void*, std::uint8_t, std::int64_t) override {}
  void sum(DType, std::span<void* const>, std::span<const void* const>, std::int64_t) override {}
  Mark mark() override { return std::make_shared<WorkEnd>(works_.at(marks_++)); }
  void wait_for(const Mark&) override {}

 private:
  HeldWorks& works_;
  std::size_t marks_ = 0;
};

class HeldDevice final : public Device {
 public:
  explicit HeldDevice(HeldWorks& works) : works_(works) {}
  std::string_view name() const override { return "held"; }
  bool is_host() const override { return false; }
  void use() override {}
  Memory reserve(std::int64_t) override { return {}; }
  Memory reserve_host(std::int64_t) override { return {}; }
  std::unique_ptr<Queue> make_queue() override { return std::make_unique<HeldQueue>(works_); }
  std::int64_t context_bytes() const override { return 0; }
  bool fit_clock() override { return true; }
  std::int64_t clock_uncertainty_ns() const override { return 0; }

 private:
  HeldWorks& works_;
};

}  // namespace

TEST_CASE("a run on queues ends after the work of its last op, also if an op is launched while ends are read") {
  RankProgram program;
  program.ops.push_back({*parse_token("F:c0:m0"), GroupKind::self, -1, {}, {}, {}});
  program.ops.push_back({*parse_token("B:c0:m0"), GroupKind::self, -1, {}, {}, {}});
  HeldWorks works;
  HeldDevice device(works);
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
