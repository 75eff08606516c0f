// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFileInfo>
#include <QStringList>
#include <atomic>
#include <thread>

#include "app/session/feed.hpp"
#include "telemetry/event/event_sender.hpp"
#include "telemetry/import/import.hpp"

namespace rankscope::app {
namespace {

class ImportFeed : public Feed {
 public:
  ImportFeed(QString path, std::shared_ptr<RunStore> store) : path_(std::move(path)), store_(std::move(store)) {}
  ~ImportFeed() override {
    cancelled_ = true;
    if (thread_.joinable()) thread_.join();
  }

  void start() override {
    thread_ = std::thread([this] { read(); });
  }
  void stop() override { cancelled_ = true; }

 private:
  struct Cancelled {};

  template <class Post>
  void post(Post post) {
    QMetaObject::invokeMethod(this, std::move(post), Qt::QueuedConnection);
  }

  void read() {
    try {
      const import::ImportedRun run =
          import::import_run(import::traces_at(path_.toStdString()), [this](std::string_view doing, double share) {
            if (cancelled_) throw Cancelled{};
            post([this, share, words = QString::fromUtf8(doing.data(), static_cast<qsizetype>(doing.size()))] {
              emit progress(share, words);
            });
          });
      EventSender sender(*store_);
      import::publish(run, [&](int rank, Event event) { sender.add(rank, std::move(event)); });
      store_->view();  // merges here, not on the thread that draws
      for (const std::string& remark : run.remarks)
        post([this, words = QString::fromStdString(remark)] { emit notice(words, false); });
      post([this] {
        emit progress(1, {});
        emit ended(true, {});
      });
    } catch (const Cancelled&) {
      post([this] { emit ended(false, tr("%1: reading was cancelled").arg(QFileInfo(path_).fileName())); });
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

std::unique_ptr<Feed> make_import_feed(const QString& path, std::shared_ptr<RunStore> store) {
  return std::make_unique<ImportFeed>(path, std::move(store));
}

std::unique_ptr<Feed> make_feed(const SourceSpec& spec, std::shared_ptr<RunStore> store) {
  if (spec.connects()) return make_live_feed(spec, std::move(store));
  return spec.is_foreign() ? make_import_feed(spec.text, std::move(store))
                           : make_trace_feed(spec.text, std::move(store));
}

}  // namespace rankscope::app
