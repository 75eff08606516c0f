// SPDX-License-Identifier: GPL-3.0-or-later
#include <QElapsedTimer>
#include <QFileInfo>
#include <QStringList>
#include <algorithm>

#include "app/session/file_feed.hpp"
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

void read_recording(const QString& path, FileFeed& feed, RunStore& store) {
  QElapsedTimer since;
  since.start();
  const QString name = QFileInfo(path).fileName();
  ReadTraceOptions options;
  options.progress = [&](double share) {
    if (since.elapsed() >= progress_interval_ms) {
      since.restart();
      feed.post([&feed, share, name] { emit feed.progress(share, Feed::tr("reading %1").arg(name)); });
    }
    return !feed.is_cancelled();
  };
  DamageReport damage;
  const bool whole = read_trace(path.toStdString(), store, options, &damage);
  store.view();  // merges late events here, not on the thread that draws
  QString words;
  if (!whole)
    words = Feed::tr("%1: reading was cancelled; the part read so far is shown").arg(name);
  else if (damage.data_lost() || damage.cut_short)
    words = words_of(damage, name);
  feed.post([&feed, words, notes = damage.notes] {
    for (const std::string& note : notes) emit feed.notice(QString::fromStdString(note), true);
    emit feed.progress(1, {});
    if (!words.isEmpty()) emit feed.damaged(words);
    emit feed.ended(true, {});
  });
}

}  // namespace

std::unique_ptr<Feed> make_trace_feed(const QString& path, std::shared_ptr<RunStore> store) {
  return std::make_unique<FileFeed>([path](FileFeed& feed, RunStore& to) { read_recording(path, feed, to); },
                                    std::move(store));
}

std::unique_ptr<Feed> make_feed(const SourceSpec& spec, std::shared_ptr<RunStore> store) {
  if (spec.connects()) return make_live_feed(spec, std::move(store));
  return spec.is_foreign() ? make_import_feed(spec.text, std::move(store))
                           : make_trace_feed(spec.text, std::move(store));
}

}  // namespace rankscope::app
