// SPDX-License-Identifier: GPL-3.0-or-later
// "Same training?": runs `rankscope-engine verify` as a child process, and describes its result.
#pragma once
#include <QByteArray>
#include <memory>

#include "app/session/engine_child.hpp"

namespace rankscope::app {

class Proof : public QObject {
  Q_OBJECT
 public:
  enum class State : std::uint8_t { none, running, passed, not_shown, failed };
  using QObject::QObject;

  /// `arguments`: the scenario's file and its overrides.
  void start(const QString& engine, const QStringList& arguments);
  void stop();
  /// The plan has changed: drops the result, and stops a running check.
  void forget();
  State state() const { return state_; }
  /// The result, or why there is none; empty before the first result.
  QString words() const { return words_; }

 signals:
  void changed();

 private:
  void set(State state, const QString& words);
  void take_end(bool ok, int status, const QString& reason);

  State state_ = State::none;
  QString words_;
  QByteArray output_;
  std::unique_ptr<EngineChild> child_;
};

/// The output of `verify --json` as a sentence, and whether the plan passed. Throws std::runtime_error for anything
/// else.
struct Verdict {
  bool passed = false;
  bool shown = true;  ///< false: nothing differs, but equality is not proved
  QString words;
};
Verdict verdict_of(const QByteArray& json);

}  // namespace rankscope::app
