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
  ~SnapshotSource() override;

  /// The newest snapshot; never null, empty before anything came. Cheap: called for every frame, on the GUI thread.
  /// The snapshot itself is read on worker threads.
  virtual std::shared_ptr<const StoreView> view() const = 0;

  /// The prediction laid under the run: spans obtained as simulated. Null when it is in view() itself, or when there is
  /// none. Its clock is its own: steps are laid under the run's steps by number, the last predicted step under all
  /// later ones (they are alike).
  virtual std::shared_ptr<const StoreView> prediction() const { return nullptr; }

 signals:
  /// view() or prediction() is another one. At most some 25 times a second, whatever comes in.
  void changed();
};

}  // namespace rankscope
