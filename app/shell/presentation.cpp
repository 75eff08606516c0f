// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/presentation.hpp"

#include <cmath>

#include "app/views/common/style.hpp"

namespace rankscope::app {

Presentation::Presentation(QWidget* parent) : QGraphicsView(parent), proxy_(new QGraphicsProxyWidget) {
  scene_.addItem(proxy_);
  setScene(&scene_);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setAlignment(Qt::AlignLeft | Qt::AlignTop);
  setViewportUpdateMode(FullViewportUpdate);
  scale(scale_up(), scale_up());
}

double Presentation::scale_up() { return static_cast<double>(presented_pixels) / interface_pixels; }

void Presentation::present(QWidget* page) {
  release();
  proxy_->setWidget(page);
  fit();
  page->show();
  proxy_->setFocus();
}

QWidget* Presentation::release() {
  QWidget* page = proxy_->widget();
  proxy_->setWidget(nullptr);
  return page;
}

void Presentation::resizeEvent(QResizeEvent* event) {
  QGraphicsView::resizeEvent(event);
  fit();
}

void Presentation::fit() {
  const QSizeF size(std::floor(viewport()->width() / scale_up()), std::floor(viewport()->height() / scale_up()));
  scene_.setSceneRect(QRectF(QPointF(0, 0), size));
  proxy_->setGeometry(QRectF(QPointF(0, 0), size));
}

}  // namespace rankscope::app
