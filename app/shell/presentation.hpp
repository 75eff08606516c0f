// SPDX-License-Identifier: GPL-3.0-or-later
// Presentation mode: one view enlarged for the last row of a class, with the smallest letters at
// 24 px. It stays usable; pointer and keys work through the enlargement.
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
