// SPDX-License-Identifier: GPL-3.0-or-later
#include <QFileInfo>

#include "app/session/file_feed.hpp"
#include "telemetry/event/event_sender.hpp"
#include "telemetry/import/import.hpp"

namespace rankscope::app {
namespace {

struct Cancelled {};

void read_traces(const QString& path, FileFeed& feed, RunStore& store) try {
  const import::ImportedRun run =
      import::import_run(import::traces_at(path.toStdString()), [&feed](std::string_view doing, double share) {
        if (feed.is_cancelled()) throw Cancelled{};
        const QString words = QString::fromUtf8(doing.data(), static_cast<qsizetype>(doing.size()));
        feed.post([&feed, share, words] { emit feed.progress(share, words); });
      });
  EventSender sender(store);
  import::publish(run, [&](int rank, Event event) { sender.add(rank, std::move(event));
});
store.view();  // merges here, not on the thread that draws
feed.post([&feed, remarks = run.remarks] {
  for (const std::string& remark : remarks) emit feed.notice(QString::fromStdString(remark), false);
  emit feed.progress(1, {});
  emit feed.ended(true, {});
});
}  // namespace
catch (const Cancelled&) {
  feed.post(
      [&feed, path] { emit feed.ended(false, Feed::tr("%1: reading was cancelled").arg(QFileInfo(path).fileName())); });
}

}  // namespace

std::unique_ptr<Feed> make_import_feed(const QString& path, std::shared_ptr<RunStore> store) {
  return std::make_unique<FileFeed>([path](FileFeed& feed, RunStore& to) { read_traces(path, feed, to); },
                                    std::move(store));
}

}  // namespace rankscope::app
