// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/split_handle.hpp"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

namespace rankscope::app {
namespace {

constexpr int key_step = 16, grip_width = 48;

}  // namespace

SplitHandle::SplitHandle(QWidget* parent) : QWidget(parent) {
  setCursor(Qt::SplitVCursor);
  setFocusPolicy(Qt::TabFocus);
  setAttribute(Qt::WA_Hover);
  setAccessibleName(tr("Height of the lower view"));
  setToolTip(tr("Drag, or ↑ and ↓: height of the lower view. Double click: maximise (F9)."));
}

void SplitHandle::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const bool lit = underMouse() || hasFocus();
  const QColor line = palette().color(lit ? QPalette::Highlight : QPalette::Mid);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  painter.fillRect(QRect(0, 0, width(), 1), line);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(palette().color(lit ? QPalette::Highlight : QPalette::PlaceholderText));
  const QRectF grip((width() - grip_width) / 2.0, (height() - 2) / 2.0, grip_width, 3);
  painter.drawRoundedRect(grip, 1.5, 1.5);
}

void SplitHandle::mousePressEvent(QMouseEvent* event) { grabbed_at_ = event->position().toPoint().y(); }

void SplitHandle::mouseMoveEvent(QMouseEvent* event) {
  if (!(event->buttons() & Qt::LeftButton)) return;
  if (const int by = event->position().toPoint().y() - grabbed_at_; by != 0) emit moved(by);
}

void SplitHandle::mouseReleaseEvent(QMouseEvent*) { emit released(); }

void SplitHandle::mouseDoubleClickEvent(QMouseEvent*) { emit clicked_twice(); }

void SplitHandle::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Up: emit moved(-key_step); break;
    case Qt::Key_Down: emit moved(key_step); break;
    case Qt::Key_Return:
    case Qt::Key_Enter: emit clicked_twice(); return;
    default: return QWidget::keyPressEvent(event);
  }
  emit released();
}

}  // namespace rankscope::app
