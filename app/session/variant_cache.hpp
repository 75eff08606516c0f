// SPDX-License-Identifier: GPL-3.0-or-later
// A cache of predictions of a scenario with changed keys, by request: made on another thread. GUI thread
// only; nothing waits for them.
#pragma once
#include <QObject>
#include <QStringList>
#include <map>
#include <memory>

#include "app/session/prediction.hpp"

namespace rankscope::app {

class VariantCache : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  ~VariantCache() override;

  /// Of the file with these settings ("plan.micro_batches=16"). Null while it is unknown: the first request starts
  /// the computation, and `changed` follows. A prediction that cannot be made has a refusal.
  std::shared_ptr<const Prediction> get(const QString& file, const QStringList& settings);
  bool settled() const { return under_way_ == 0; }

 signals:
  void changed();

 private:
  std::map<QStringList, std::shared_ptr<const Prediction>> made_;  ///< null: in progress
  int under_way_ = 0;
};

}  // namespace rankscope::app
