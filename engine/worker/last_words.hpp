// A worker that its launcher ends (SIGTERM) reports this first: a worker that ends without a message is the lost one.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "engine/worker/signal_pipe.hpp"

namespace rankscope {

class LastWords {
 public:
  /// From now on SIGTERM ends this process only after what was set (if anything) has returned.
  LastWords();
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

  /// Called once on SIGTERM, on a thread of its own; empty: nothing to say any more.
  void set(std::function<void()> print);

 private:
  void wait();

  const SignalPipe signals_;
  std::mutex mutex_;
  std::function<void()> print_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace rankscope
