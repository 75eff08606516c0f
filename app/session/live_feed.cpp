// SPDX-License-Identifier: GPL-3.0-or-later
#include <QElapsedTimer>
#include <QThreadPool>
#include <QTimer>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "app/session/feed.hpp"
#include "telemetry/stream/viewer_client.hpp"

namespace rankscope::app {
namespace {

constexpr int check_interval_ms = 100;
/// A relay sends a heartbeat twice a second.
constexpr int silent_after_ms = 3000;
/// Detail may arrive after the session's end. After this time without any, the run is complete.
constexpr int quiet_after_end_ms = 700;
constexpr int give_back_interval_ms = 20'000;

// A live session receives messages of all sizes for hours or days, and free memory between live blocks would
// accumulate.

/// From now on, large blocks are allocated from the system and returned singly: the allocator's own limit grows with
/// freed sizes, and then large blocks leave holes between small ones. Opening a file is slower with it.
void keep_large_pieces_apart() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

/// Returns free memory to the system. Takes some milliseconds, on a background thread.
void give_back_freed_memory() {
#ifdef __GLIBC__
  QThreadPool::globalInstance()->start([] { malloc_trim(0); });
#endif
}

class LiveFeed : public Feed {
 public:
  LiveFeed(SourceSpec spec, std::shared_ptr<RunStore> store) : spec_(std::move(spec)), store_(std::move(store)) {
    since_given_back_.start();
    timer_.setInterval(check_interval_ms);
    connect(&timer_, &QTimer::timeout, this, [this] { poll(); });
  }

  void start() override {
    keep_large_pieces_apart();
    try {
      ViewerOptions options;
      const std::string text = spec_.text.toStdString();
      options.join = spec_.kind == SourceKind::join_file ? read_join_file(text) : parse_join(text);
      client_ = std::make_unique<ViewerClient>(std::move(options), *store_);
      timer_.start();
    } catch (const JoinError& error) {
      // The receiver is still inside start(): the signal is emitted after it has returned.
      QMetaObject::invokeMethod(
          this, [this, words = QString::fromUtf8(error.what())] { emit ended(false, words); }, Qt::QueuedConnection);
    }
  }

  void stop() override { finish(true, {}); }

 private:
  void poll() {
    if (since_given_back_.elapsed() > give_back_interval_ms) {
      since_given_back_.start();
      give_back_freed_memory();
    }
    const ViewerStatus status = client_->status();
    if (!connected_ && status.messages > 0) {
      connected_ = true;
      emit connected();
    }
    if (status.garbage > reported_garbage_) {
      reported_garbage_ = status.garbage;
      emit notice(tr("%1 messages could not be read and were skipped: %2")
                      .arg(status.garbage)
                      .arg(QString::fromStdString(status.last_garbage)),
                  true);
    }
    if (connected_) take_contact(status);
    const QString why = QString::fromStdString(status.why);
    if (why != reported_reason_) {
      reported_reason_ = why;
      if (!why.isEmpty()) emit notice(why, status.state == ViewerState::refused);
    }
    switch (status.state) {
      case ViewerState::connecting:
      case ViewerState::live: return;
      case ViewerState::refused:
        if (connected_) emit dismissed(why);
        return finish(connected_, connected_ ? QString() : why);
      case ViewerState::ended:
        if (!quiet_.isValid() || status.messages != messages_at_end_) {
          messages_at_end_ = status.messages;
          quiet_.start();
        } else if (quiet_.elapsed() > quiet_after_end_ms) {
          finish(true, {});
        }
    }
  }

  void take_contact(const ViewerStatus& status) {
    const bool ends = status.state == ViewerState::ended || status.state == ViewerState::refused;
    const Contact contact = ends || status.silence.count() < silent_after_ms ? Contact::good
                            : status.state == ViewerState::connecting        ? Contact::lost
                                                                             : Contact::silent;
    const int seconds = contact == Contact::good ? 0 : static_cast<int>(status.silence.count() / 1000);
    if (contact == contact_ && seconds == silent_s_) return;
    if (contact != contact_ && contact != Contact::silent && (contact == Contact::lost || contact_ == Contact::lost))
      emit notice(contact == Contact::lost ? tr("connection lost: nothing has arrived for %1 s").arg(seconds)
                                           : tr("connected again"),
                  contact == Contact::lost);
    contact_ = contact;
    silent_s_ = seconds;
    emit contact_changed(contact, seconds);
  }

  void finish(bool ok, const QString& words) {
    timer_.stop();
    client_.reset();
    emit ended(ok, words);
  }

  SourceSpec spec_;
  std::shared_ptr<RunStore> store_;
  std::unique_ptr<ViewerClient> client_;
  QTimer timer_;
  QElapsedTimer quiet_, since_given_back_;
  QString reported_reason_;
  std::int64_t reported_garbage_ = 0, messages_at_end_ = -1;
  bool connected_ = false;
  Contact contact_ = Contact::good;
  int silent_s_ = 0;
};

}  // namespace

std::unique_ptr<Feed> make_live_feed(const SourceSpec& endpoint, std::shared_ptr<RunStore> store) {
  return std::make_unique<LiveFeed>(endpoint, std::move(store));
}

}  // namespace rankscope::app
