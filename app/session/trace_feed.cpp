// SPDX-License-Identifier: GPL-3.0-or-later
#include <QElapsedTimer>
#include <QFileInfo>
#include <atomic>
#include <thread>

#include "app/session/feed.hpp"
#include "telemetry/trace/trace_reader.hpp"

namespace rankscope::app {
namespace {

constexpr int progress_interval_ms = 50;

class TraceFeed : public Feed {
 public:
  TraceFeed(QString path, std::shared_ptr<RunStore> store) : path_(std::move(path)), store_(std::move(store)) {}
  ~TraceFeed() override {
    cancelled_ = true;
    if (thread_.joinable()) thread_.join();
  }

  void start() override {
    thread_ = std::thread([this] { read(); });
  }
  void stop() override { cancelled_ = true; }

 private:
  template <class Tell>
  void tell(Tell tell) {
    QMetaObject::invokeMethod(this, std::move(tell), Qt::QueuedConnection);
  }

  void read() {
    QElapsedTimer since;
    since.start();
    const QString name = QFileInfo(path_).fileName();
    ReadTraceOptions options;
    options.progress = [&](double share) {
      if (since.elapsed() >= progress_interval_ms) {
        since.restart();
        tell([this, share, name] { emit progress(share, tr("reading %1").arg(name)); });
      }
      return !cancelled_.load();
    };
    try {
      DamageReport damage;
      const bool whole = read_trace(path_.toStdString(), *store_, options, &damage);
      store_->view();  // merges what came late, here rather than where somebody waits for a picture
      for (const std::string& note : damage.notes)
        tell([this, words = QString::fromStdString(note)] { emit notice(words, true); });
      QString words;
      if (!whole)
        words = tr("%1: reading was cancelled; what had been read is shown").arg(name);
      else if (damage.data_lost())
        words = tr("%1 is damaged: %2 bytes in %3 chunks could not be read; shown is the rest")
                    .arg(name)
                    .arg(damage.bytes_skipped)
                    .arg(damage.chunks_skipped);
      else if (damage.cut_short)
        words = tr("%1 ends before its end mark: the run or a copy of the file was cut off; all that is there is shown")
                    .arg(name);
      tell([this, words] {
        emit progress(1, {});
        emit ended(true, words);
      });
    } catch (const std::exception& error) {
      tell([this, words = QString::fromUtf8(error.what())] { emit ended(false, words); });
    }
  }

  QString path_;
  std::shared_ptr<RunStore> store_;
  std::thread thread_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace

std::unique_ptr<Feed> make_trace_feed(const QString& path, std::shared_ptr<RunStore> store) {
  return std::make_unique<TraceFeed>(path, std::move(store));
}

}  // namespace rankscope::app
