// SPDX-License-Identifier: GPL-3.0-or-later
// "One change away": predicts the plans that differ in one key (engine/explain/facts/alternatives), on a worker
// thread.
#pragma once
#include <QTimer>
#include <atomic>
#include <memory>
#include <optional>

#include "app/session/latest.hpp"
#include "engine/explain/facts/alternatives.hpp"

namespace rankscope::app {

class Adviser : public QObject {
  Q_OBJECT
 public:
  explicit Adviser(QObject* parent = nullptr);
  ~Adviser() override;

  /// Starts after a short delay; an earlier request is cancelled.
  void ask(const Scenario& scenario);
  void drop();
  /// Since the last drop().
  bool asked() const { return asked_; }
  /// Of the scenario of the last request; null while unknown, or if that plan cannot run.
  const std::shared_ptr<const Alternatives>& latest() const { return latest_; }
  /// True if no request is in progress.
  bool settled() const { return !wanted_ && worker_.settled(); }

 signals:
  void changed();

 private:
  struct Answer {
    std::uint64_t number = 0;
    std::shared_ptr<const Alternatives> alternatives;
  };
  void start();
  void take(const Answer& answer);

  QTimer patience_;
  bool asked_ = false;
  std::optional<Scenario> wanted_;  ///< not yet begun
  std::shared_ptr<const Alternatives> latest_;
  std::shared_ptr<std::atomic<std::uint64_t>> number_ = std::make_shared<std::atomic<std::uint64_t>>(0);
  Latest<Answer> worker_;
};

}  // namespace rankscope::app
