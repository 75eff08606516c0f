// Sources of snapshots that a test holds.
#pragma once
#include "app/models/snapshot_source.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

/// Nothing has been loaded.
class EmptySource : public SnapshotSource {
 public:
  std::shared_ptr<const StoreView> view() const override { return view_; }

 private:
  std::shared_ptr<const StoreView> view_ = RunStore().view();
};

/// A source whose snapshots the test replaces.
class HeldSource : public SnapshotSource {
 public:
  explicit HeldSource(std::shared_ptr<const StoreView> view, std::shared_ptr<const StoreView> prediction = nullptr)
      : view_(std::move(view)), prediction_(std::move(prediction)) {}
  std::shared_ptr<const StoreView> view() const override { return view_; }
  void hold(std::shared_ptr<const StoreView> view) {
    view_ = std::move(view);
    emit changed();
  }
  std::shared_ptr<const StoreView> prediction() const override { return prediction_; }
  void hold_prediction(std::shared_ptr<const StoreView> prediction) {
    prediction_ = std::move(prediction);
    emit changed();
  }

 private:
  std::shared_ptr<const StoreView> view_, prediction_;
};

}  // namespace rankscope::app
