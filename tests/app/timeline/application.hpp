// One application for all cases of a test executable, drawn into memory.
#pragma once
#include <QApplication>
#include <functional>

#include "app/models/snapshot_source.hpp"

namespace rankscope {

inline QApplication& application() {
  static const bool offscreen = qputenv("QT_QPA_PLATFORM", "offscreen");
  static int count = 1;
  static char name[] = "timeline_test";
  static char* arguments[] = {name, nullptr};
  // Never destroyed: at exit Qt's own statics, which its destructor uses, may already be destroyed.
  static QApplication& app = *new QApplication(count, arguments);
  (void)offscreen;
  return app;
}

/// A source whose snapshot the test replaces.
class HeldSource : public SnapshotSource {
 public:
  explicit HeldSource(std::shared_ptr<const StoreView> view) : view_(std::move(view)) {}
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

}  // namespace rankscope
