// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/composer.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <system_error>

#include "app/models/reuse.hpp"

namespace rankscope {

// A frame in progress: each thread composes the next row until none is left.
struct Composer::Job {
  std::uint64_t number = 0;
  std::shared_ptr<Frame> frame;
  std::shared_ptr<const Frame> previous;  ///< kept while its pixels are copied
  std::optional<Reuse> reuse;
  std::vector<RowParts> parts;
  std::atomic<std::size_t> next_row{0};
  std::size_t rows_done = 0;  ///< guarded by the composer's mutex
  bool cleared = false;       ///< guarded too: the background is drawn, rows may be composed
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

namespace {

// The painting thread has priority: a late picture is shown stretched, but delayed input is noticeable. On Linux
// each thread has its own niceness; elsewhere it belongs to the program, and is not changed.
void step_back() {
#ifdef __linux__
  constexpr int below_painting = 4;  ///< and above a training engine, which runs at 10
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), below_painting);
#endif
}

}  // namespace

// Eight megabytes per frame: allocating them again costs more than drawing into them.
struct Composer::Pool {
  std::mutex mutex;
  std::vector<std::vector<Argb>> pixels;
};

std::shared_ptr<Frame> Composer::new_frame() {
  auto frame = std::make_unique<Frame>();
  {
    const std::lock_guard lock(pool_->mutex);
    if (!pool_->pixels.empty()) {
      frame->pixels = std::move(pool_->pixels.back());
      pool_->pixels.pop_back();
    }
  }
  return {frame.release(), [pool = pool_](Frame* done) {
            {
              const std::lock_guard lock(pool->mutex);
              if (pool->pixels.size() < 2) pool->pixels.push_back(std::move(done->pixels));
            }
            delete done;
          }};
}

Composer::Composer(std::function<void()> ready, int threads)
    : ready_(std::move(ready)), pool_(std::make_shared<Pool>()) {
  if (threads <= 0) threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 4);
  try {
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([this] {
        step_back();
        work();
      });
  } catch (const std::system_error&) {
    if (threads_.empty()) throw;  // fewer threads are only slower; without any, nothing is drawn
  }
}

Composer::~Composer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_there_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::uint64_t Composer::request(FrameRequest request) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::make_unique<FrameRequest>(std::move(request));
    number = waiting_number_ = ++requested_;
  }
  work_there_.notify_all();
  return number;
}

std::pair<std::shared_ptr<const Frame>, std::uint64_t> Composer::latest() const {
  const std::lock_guard lock(mutex_);
  return {latest_, latest_number_};
}

bool Composer::wait_for(std::uint64_t number, std::chrono::microseconds longest) const {
  std::unique_lock lock(mutex_);
  return frame_there_.wait_for(lock, longest, [&] { return latest_number_ >= number || stopping_; });
}

bool Composer::settled() const {
  const std::lock_guard lock(mutex_);
  return latest_number_ == requested_;
}

void Composer::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_there_.wait(lock, [&] {
      return stopping_ || (!job_ && waiting_) || (job_ && job_->cleared && job_->next_row < job_->parts.size());
    });
    if (stopping_) return;
    if (!job_) {
      auto job = std::make_shared<Job>();
      job->frame = new_frame();
      job->number = waiting_number_;
      job->previous = latest_;
      job->frame->request = std::move(*waiting_);
      waiting_.reset();
      job_ = job;
      lock.unlock();
      FrameRequest& request = job->frame->request;
      request.extent = request.run->extent(request.shown);
      job->frame->pixels.resize(static_cast<std::size_t>(std::max(request.width, 0)) *
                                static_cast<std::size_t>(std::max(request.height, 0)));
      if (job->previous) job->reuse = reuse_of(*job->previous, request);
      if (job->reuse)
        copy_shifted(*job->reuse, request, job->frame->pixels.data());
      else
        clear_frame(request, job->frame->pixels.data());
      job->parts.resize(request.rows->rows.size());
      lock.lock();
      job->cleared = true;
      if (job->parts.empty()) {
        finish(*job, lock);
        continue;
      }
      work_there_.notify_all();
    }
    const std::shared_ptr<Job> job = job_;
    if (!job->cleared) continue;
    lock.unlock();
    std::size_t done = 0;
    for (std::size_t row = job->next_row++; row < job->parts.size(); row = job->next_row++, ++done)
      job->parts[row] =
          compose_row(job->frame->request, row, job->frame->pixels.data(), job->reuse ? &*job->reuse : nullptr);
    lock.lock();
    job->rows_done += done;
    if (done > 0 && job->rows_done == job->parts.size()) finish(*job, lock);
  }
}

// Called with the lock held; releases it while notifying.
void Composer::finish(Job& job, std::unique_lock<std::mutex>& lock) {
  Frame& frame = *job.frame;
  gather(frame, job.parts);
  frame.drift = job.reuse ? job.reuse->drift : 0;
  frame.reused = job.reuse.has_value();
  frame.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - job.start).count();
  latest_ = job.frame;
  latest_number_ = job.number;
  job_.reset();
  frame_there_.notify_all();
  work_there_.notify_all();
  lock.unlock();
  if (ready_) ready_();
  lock.lock();
}

}  // namespace rankscope
