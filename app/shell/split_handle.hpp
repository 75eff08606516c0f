// SPDX-License-Identifier: GPL-3.0-or-later
// The edge between time line and lower view: dragged, moved with the arrow keys, or double-clicked.
#pragma once
#include <QWidget>

namespace rankscope::app {

class SplitHandle : public QWidget {
  Q_OBJECT
 public:
  explicit SplitHandle(QWidget* parent);

 signals:
  /// Pixels down since the last signal.
  void moved(int by);
  void released();
  void clicked_twice();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  int grabbed_at_ = 0;  ///< of its own height
};

}  // namespace rankscope::app
