// What signals mean to a worker. One that its launcher ends (SIGTERM) reports this first: one that ends without a
// message is the lost one. A run that writes checkpoints is asked to stop by SIGUSR1, which mpirun passes on to all
// ranks; the signals that come to every process of a job then do nothing here, because the supervisor receives them
// too, and stops the run.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "engine/worker/signal_pipe.hpp"

namespace rankscope {

class WorkerSignals {
 public:
  /// From now on SIGTERM and SIGUSR1 end this process only after the report that was set, if any, has returned.
  WorkerSignals();
  ~WorkerSignals();
  WorkerSignals(const WorkerSignals&) = delete;
  WorkerSignals& operator=(const WorkerSignals&) = delete;

  /// Called once by such a signal, on a separate thread; empty: nothing to report.
  void set_report(std::function<void()> report);

  /// From now on SIGUSR1 only asks to stop. `is_dismissed`: SIGTERM is how the launcher ends this process when another
  /// one is lost; otherwise it does nothing, nor do SIGINT and SIGHUP.
  void expect_request(bool is_dismissed);
  bool is_asked_to_stop() const { return is_asked_to_stop_; }

 private:
  void wait();

  const SignalPipe signals_;
  std::mutex mutex_;
  std::function<void()> report_;
  std::atomic<bool> expects_request_ = false, is_asked_to_stop_ = false;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace rankscope
