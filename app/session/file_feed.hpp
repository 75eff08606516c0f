// SPDX-License-Identifier: GPL-3.0-or-later
// A feed that reads files on a thread of its own, whatever they are.
#pragma once
#include <QMetaObject>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "app/session/feed.hpp"

namespace rankscope::app {

class FileFeed : public Feed {
 public:
  /// Fills the store on the feed's thread, and posts what happens; `ended` if it fails is posted for what it throws.
  using Read = std::function<void(FileFeed& feed, RunStore& store)>;
  FileFeed(Read read, std::shared_ptr<RunStore> store) : read_(std::move(read)), store_(std::move(store)) {}
  ~FileFeed() override {
    cancelled_ = true;
    if (thread_.joinable()) thread_.join();
  }

  void start() override {
    thread_ = std::thread([this] {
      try {
        read_(*this, *store_);
      } catch (const std::exception& error) {
        post([this, words = QString::fromUtf8(error.what())] { emit ended(false, words); });
      }
    });
  }
  void stop() override { cancelled_ = true; }
  bool is_cancelled() const { return cancelled_; }

  /// Runs `what` on the GUI thread, where signals are emitted.
  template <class What>
  void post(What what) {
    QMetaObject::invokeMethod(this, std::move(what), Qt::QueuedConnection);
  }

 private:
  Read read_;
  std::shared_ptr<RunStore> store_;
  std::thread thread_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace rankscope::app
