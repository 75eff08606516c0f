// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/presentation.hpp"

#include <cmath>

#include "app/views/common/style.hpp"

namespace rankscope::app {

Presentation::Presentation(QWidget* parent) : QGraphicsView(parent) {
  setScene(&scene_);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setAlignment(Qt::AlignLeft | Qt::AlignTop);
  setViewportUpdateMode(FullViewportUpdate);
  scale(scale_up(), scale_up());
}

Presentation::~Presentation() { release(); }

double Presentation::scale_up() { return static_cast<double>(presented_pixels) / interface_pixels; }

void Presentation::present(QWidget* page) {
  release();
  proxy_ = new QGraphicsProxyWidget;
  proxy_->setWidget(page);
  scene_.addItem(proxy_);
  fit();
  page->show();
  proxy_->setFocus();
}

QWidget* Presentation::release() {
  if (proxy_ == nullptr) return nullptr;
  QWidget* page = proxy_->widget();
  proxy_->setWidget(nullptr);
  delete proxy_;
  proxy_ = nullptr;
  return page;
}

void Presentation::resizeEvent(QResizeEvent* event) {
  QGraphicsView::resizeEvent(event);
  fit();
}

void Presentation::fit() {
  const QSizeF size(std::floor(viewport()->width() / scale_up()), std::floor(viewport()->height() / scale_up()));
  scene_.setSceneRect(QRectF(QPointF(0, 0), size));
  if (proxy_ != nullptr) proxy_->setGeometry(QRectF(QPointF(0, 0), size));
}

}  // namespace rankscope::app
