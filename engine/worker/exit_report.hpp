// A worker that its launcher ends (SIGTERM) reports this first: one that ends without a message is the lost one.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "engine/worker/signal_pipe.hpp"

namespace rankscope {

class ExitReport {
 public:
  /// From now on SIGTERM ends this process only after the function that was set, if any, has returned.
  ExitReport();
  ~ExitReport();
  ExitReport(const ExitReport&) = delete;
  ExitReport& operator=(const ExitReport&) = delete;

  /// Called once on SIGTERM, on a separate thread; empty: nothing to report.
  void set(std::function<void()> report);

 private:
  void wait();

  const SignalPipe signals_;
  std::mutex mutex_;
  std::function<void()> report_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace rankscope
