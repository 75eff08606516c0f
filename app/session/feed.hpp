// SPDX-License-Identifier: GPL-3.0-or-later
// Fills a run's store from a live stream or a recording. One feed, one store, one thread.
#pragma once
#include <QObject>
#include <QString>
#include <memory>

#include "app/session/source_spec.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

/// Whether what a live feed shows is the present.
enum class Contact : std::uint8_t {
  good,
  silent,  ///< the relay has sent nothing for some seconds, not even its heartbeat
  lost,    ///< it does not answer: the feed tries to connect again, and continues where it was
};

class Feed : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  ~Feed() override = default;
  /// Begins to fill the store on a thread of the feed's own. Call once.
  virtual void start() = 0;
  /// Requests its end; returns at once. The destructor waits for the thread.
  virtual void stop() = 0;

 signals:
  // All emitted on the GUI thread.
  void connected();                                    ///< the first message is in the store
  void progress(double share, const QString& what);    ///< of a recording being read; 0 … 1
  void ended(bool ok, const QString& words);           ///< nothing more will arrive; `words` may be empty
  void notice(const QString& words, bool bad);         ///< one line for the log
  void contact_changed(Contact contact, int seconds);  ///< of a live run; so many since the last message
  void dismissed(const QString& words);  ///< before `ended`: the run goes on, but this viewer may not watch it any more
  void damaged(const QString& words);    ///< not all of a recording could be read; before `ended`
};

/// A viewer of a running session: `endpoint` is tcp://…, ipc://… or a join file.
std::unique_ptr<Feed> make_live_feed(const SourceSpec& endpoint, std::shared_ptr<RunStore> store);
/// A recording, read as fast as the disk gives it.
std::unique_ptr<Feed> make_trace_feed(const QString& path, std::shared_ptr<RunStore> store);
/// Another program's traces: a file or a folder of them.
std::unique_ptr<Feed> make_import_feed(const QString& path, std::shared_ptr<RunStore> store);
/// Of a source of that kind.
std::unique_ptr<Feed> make_feed(const SourceSpec& spec, std::shared_ptr<RunStore> store);

}  // namespace rankscope::app
