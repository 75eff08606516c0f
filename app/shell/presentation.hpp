// SPDX-License-Identifier: GPL-3.0-or-later
// One view so large that the last row of a class reads it: everything in it is painted larger, the smallest letters at
// 24 px. It can be used as ever; pointer and keys reach it through the enlargement.
#pragma once
#include <QGraphicsProxyWidget>
#include <QGraphicsScene>
#include <QGraphicsView>

namespace rankscope::app {

class Presentation : public QGraphicsView {
  Q_OBJECT
 public:
  explicit Presentation(QWidget* parent = nullptr);
  ~Presentation() override;

  /// By how much everything is larger.
  static double scale_up();
  /// Shows that widget, which has no parent; it belongs to whoever made it.
  void present(QWidget* page);
  /// Gives it back, without a parent.
  QWidget* release();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit();

  QGraphicsScene scene_;
  QGraphicsProxyWidget* proxy_ = nullptr;
};

}  // namespace rankscope::app
