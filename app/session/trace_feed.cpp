// SPDX-License-Identifier: GPL-3.0-or-later
#include <QElapsedTimer>
#include <QFileInfo>
#include <QStringList>
#include <algorithm>
#include <atomic>
#include <thread>

#include "app/session/feed.hpp"
#include "telemetry/trace/trace_reader.hpp"

namespace rankscope::app {
namespace {

constexpr int progress_interval_ms = 50;
constexpr std::size_t most_notes = 3;  ///< in one line; the log has everything

/// The damage as reported by `rankscope-trace stats`, in one line.
QString words_of(const DamageReport& damage, const QString& name) {
  QStringList notes;
  for (std::size_t i = 0; i < std::min(damage.notes.size(), most_notes); ++i)
    notes << QString::fromStdString(damage.notes[i]);
  if (damage.notes.size() > most_notes)
    notes << Feed::tr("%1 more errors, see the log").arg(damage.notes.size() - most_notes);
  const QString what = damage.data_lost() ? Feed::tr("%1 is damaged") : Feed::tr("%1 is incomplete");
  return Feed::tr("%1: %2. The readable part is shown.").arg(what.arg(name), notes.join(QStringLiteral("; ")));
}

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
  template <class Post>
  void post(Post post) {
    QMetaObject::invokeMethod(this, std::move(post), Qt::QueuedConnection);
  }

  void read() {
    QElapsedTimer since;
    since.start();
    const QString name = QFileInfo(path_).fileName();
    ReadTraceOptions options;
    options.progress = [&](double share) {
      if (since.elapsed() >= progress_interval_ms) {
        since.restart();
        post([this, share, name] { emit progress(share, tr("reading %1").arg(name)); });
      }
      return !cancelled_.load();
    };
    try {
      DamageReport damage;
      const bool whole = read_trace(path_.toStdString(), *store_, options, &damage);
      store_->view();  // merges late events here, not on the thread that draws
      for (const std::string& note : damage.notes)
        post([this, words = QString::fromStdString(note)] { emit notice(words, true); });
      QString words;
      if (!whole)
        words = tr("%1: reading was cancelled; the part read so far is shown").arg(name);
      else if (damage.data_lost() || damage.cut_short)
        words = words_of(damage, name);
      post([this, words] {
        emit progress(1, {});
        if (!words.isEmpty()) emit damaged(words);
        emit ended(true, {});
      });
    } catch (const std::exception& error) {
      post([this, words = QString::fromUtf8(error.what())] { emit ended(false, words); });
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
