// SPDX-License-Identifier: GPL-3.0-or-later
// Composes frames on worker threads. Only the newest request counts: while a frame is being composed, later requests
// replace each other, so the view never queues work and waits only for the frame that it needs.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "app/models/frame.hpp"

namespace rankscope {

class Composer {
 public:
  /// `ready` is called on a worker thread whenever a newer frame is available. `threads` 0: one per core, at most 4.
  explicit Composer(std::function<void()> ready, int threads = 0);
  ~Composer();
  Composer(const Composer&) = delete;
  Composer& operator=(const Composer&) = delete;

  /// Returns the request's number; numbers grow.
  std::uint64_t request(FrameRequest request);
  /// The newest frame and its number; null and 0 before the first.
  std::pair<std::shared_ptr<const Frame>, std::uint64_t> latest() const;
  /// Waits until frame `number` or a later one is complete, at most for this time. True if it is.
  bool wait_for(std::uint64_t number, std::chrono::microseconds longest) const;
  /// True if all requested frames are complete.
  bool settled() const;

 private:
  struct Job;
  struct Pool;
  std::shared_ptr<Frame> new_frame();
  void work();
  void finish(Job& job, std::unique_lock<std::mutex>& lock);

  std::function<void()> ready_;
  std::shared_ptr<Pool> pool_;  ///< pixel buffers of unused frames
  mutable std::mutex mutex_;
  mutable std::condition_variable work_there_, frame_there_;
  std::unique_ptr<FrameRequest> waiting_;  ///< the newest request that has not been started
  std::uint64_t waiting_number_ = 0, requested_ = 0;
  std::shared_ptr<Job> job_;  ///< in progress
  std::shared_ptr<const Frame> latest_;
  std::uint64_t latest_number_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace rankscope
