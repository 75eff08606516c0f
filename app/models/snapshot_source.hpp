// SPDX-License-Identifier: GPL-3.0-or-later
// The data source of a view: snapshots of a live, recorded or simulated run. Implemented by app/session.
#pragma once
#include <QObject>
#include <memory>

#include "telemetry/store/run_store.hpp"

namespace rankscope {

class SnapshotSource : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  ~SnapshotSource() override = default;

  /// The newest snapshot; never null, empty before any data arrived. Cheap: called for every frame, on the GUI thread.
  /// The snapshot itself is read on worker threads.
  virtual std::shared_ptr<const StoreView> view() const = 0;

  /// The prediction drawn under the run: spans obtained as simulated. Null when it is in view() itself, or when there
  /// is none. It has its own clock: its steps are drawn under the run's by number, the last predicted step under all
  /// later ones (they are identical).
  virtual std::shared_ptr<const StoreView> prediction() const { return nullptr; }

 signals:
  /// view() or prediction() has changed. At most about 25 times a second, however much data arrives.
  void changed();
};

}  // namespace rankscope
