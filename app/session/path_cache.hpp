// SPDX-License-Identifier: GPL-3.0-or-later
// A cache of optimizer paths by request: runs `rankscope-engine paths` as a child process, one after another, and
// keeps the output. GUI thread only; nothing waits for it.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "app/session/engine_child.hpp"
#include "engine/lesson/descent/path.hpp"

namespace rankscope::app {

class PathCache : public QObject {
  Q_OBJECT
 public:
  /// `engine`: the engine's path; empty if not found.
  explicit PathCache(std::function<QString()> engine, QObject* parent = nullptr);
  ~PathCache() override;

  /// Null while unknown, or if it cannot be computed; the first request starts the engine, and `changed` follows.
  std::shared_ptr<const Paths> get(const PathRequest& request);
  /// Why there are none; empty while unknown, or if there are some.
  QString failure(const PathRequest& request) const;
  bool settled() const { return child_ == nullptr && queue_.empty(); }

 signals:
  void changed();

 private:
  struct Answer {
    std::shared_ptr<const Paths> paths;
    QString failure;
  };
  void start_next();
  void take_end(bool ok, const QString& reason);
  void keep(const QStringList& arguments, Answer answer);

  std::function<QString()> engine_;
  std::map<QStringList, Answer> answers_;
  std::deque<QStringList> kept_order_;  ///< the oldest first: it is removed when there are too many
  std::deque<QStringList> queue_;
  QStringList asked_;  ///< of the child
  QByteArray output_;
  std::unique_ptr<EngineChild> child_;
};

}  // namespace rankscope::app
