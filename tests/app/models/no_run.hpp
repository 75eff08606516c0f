// SPDX-License-Identifier: GPL-3.0-or-later
// The source of views whose content needs no run.
#pragma once
#include "app/models/snapshot_source.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope {

class NoRun : public SnapshotSource {
 public:
  std::shared_ptr<const StoreView> view() const override { return view_; }

 private:
  std::shared_ptr<const StoreView> view_ = RunStore().view();
};

}  // namespace rankscope
