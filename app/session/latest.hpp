// SPDX-License-Identifier: GPL-3.0-or-later
// Computes on a worker thread, and delivers the newest result on the GUI thread: requests during a computation are
// merged into the last one. So a view may send a request at every mouse move, and is at most one result behind.
#pragma once
#include <QFutureWatcher>
#include <QObject>
#include <QtConcurrent/QtConcurrentRun>
#include <functional>
#include <utility>

namespace rankscope::app {

template <class T>
class Latest {
 public:
  using Compute = std::function<T()>;
  using Deliver = std::function<void(T)>;

  /// `deliver` runs on the thread that made this object. `compute` must own what it reads; it must not throw.
  explicit Latest(Deliver deliver) : deliver_(std::move(deliver)) {
    QObject::connect(&watcher_, &QFutureWatcher<T>::finished, &watcher_, [this] { on_finished(); });
  }
  ~Latest() { watcher_.disconnect(); }

  void request(Compute compute) {
    next_ = std::move(compute);
    if (!busy_) start();
  }
  /// True while nothing runs or waits.
  bool settled() const { return !busy_; }

 private:
  void start() {
    busy_ = true;
    Compute compute = std::exchange(next_, nullptr);
    watcher_.setFuture(QtConcurrent::run(std::move(compute)));
  }
  void on_finished() {
    deliver_(watcher_.result());
    busy_ = false;
    if (next_) start();
  }

  Deliver deliver_;
  Compute next_;
  QFutureWatcher<T> watcher_;
  bool busy_ = false;  ///< until the answer is delivered: the future is done earlier
};

}  // namespace rankscope::app
