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

  /// The factor of enlargement.
  static double scale_up();
  /// Shows that widget, which has no parent and still belongs to the caller.
  void present(QWidget* page);
  /// Returns it, without a parent.
  QWidget* release();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit();

  QGraphicsScene scene_;
  QGraphicsProxyWidget* proxy_;  ///< of every page: it may be passing on the event that ends the presentation
};

}  // namespace rankscope::app
