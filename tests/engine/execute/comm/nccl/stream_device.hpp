// A device whose queues are threads, for tests of code that enqueues work: its memory is the host's, but no work is
// done yet when a call returns.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "kernels/device/host.hpp"
#include "tests/engine/execute/comm/nccl/emulated.hpp"

namespace rankscope::test {

class StreamMoment final : public Moment {
 public:
  void reach() {
    {
      const std::lock_guard lock(mutex_);
      reached_ = true;
    }
    changed_.notify_all();
  }
  bool reached() const override {
    const std::lock_guard lock(mutex_);
    return reached_;
  }
  void wait() const override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return reached_; });
  }
  std::int64_t time_ns() const override { return 0; }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool reached_ = false;
};

class StreamQueue final : public Queue, public emulated_nccl::Stream {
 public:
  StreamQueue() : thread_([this] { run(); }) {}
  ~StreamQueue() override {
    enqueue({});  // an empty work ends the thread
    thread_.join();
  }
  void* handle() const override {
    return const_cast<emulated_nccl::Stream*>(static_cast<const emulated_nccl::Stream*>(this));
  }
  void copy(void* to, const void* from, std::int64_t bytes) override {
    enqueue([=, this] { here_.copy(to, from, bytes); });
  }
  void fill(void* to, std::uint8_t byte, std::int64_t bytes) override {
    enqueue([=, this] { here_.fill(to, byte, bytes); });
  }
  void sum(DType type, std::span<void* const> into, std::span<const void* const> parts,
           std::int64_t elements) override {
    enqueue([this, type, elements, to = std::vector<void*>(into.begin(), into.end()),
             from = std::vector<const void*>(parts.begin(), parts.end())] { here_.sum(type, to, from, elements); });
  }
  Mark mark() override {
    const auto moment = std::make_shared<StreamMoment>();
    enqueue([moment] { moment->reach(); });
    return moment;
  }
  void wait_for(const Mark& mark) override {
    if (mark) enqueue([mark] { mark->wait(); });
  }
  void enqueue(std::function<void()> work) override {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(work));
    }
    changed_.notify_all();
  }
  void sleep(std::chrono::milliseconds time) {
    enqueue([time] { std::this_thread::sleep_for(time); });
  }

 private:
  void run() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !work_.empty(); });
      const auto work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      if (!work) return;
      work();
    }
  }
  HostQueue here_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  std::thread thread_;
};

class StreamDevice final : public Device {
 public:
  std::string_view name() const override { return "streams"; }
  bool is_host() const override { return false; }
  void use() override {}
  Memory reserve(std::int64_t bytes) override { return host_.reserve(bytes); }
  Memory reserve_host(std::int64_t bytes) override { return host_.reserve(bytes); }
  std::unique_ptr<Queue> make_queue() override { return std::make_unique<StreamQueue>(); }
  std::int64_t context_bytes() const override { return 0; }
  bool fit_clock() override { return true; }
  std::int64_t clock_uncertainty_ns() const override { return 0; }

 private:
  HostDevice host_;
};

}  // namespace rankscope::test
