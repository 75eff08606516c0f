// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/scaling/scaling_view.hpp"

#include <QPainter>

#include "app/views/common/style.hpp"

namespace rankscope::app {

void ScalingView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(interface_font());
  painter.fillRect(rect(), color(colours().ground));
  paint_empty(
      painter, rect(), colours(), tr("Scaling cannot be drawn yet"),
      tr("It will lay measured points of one model on 1, 2, 4, … ranks over the predicted curves. This version keeps "
         "one run at a time; change the plan at the right to see what one more rank is predicted to bring."));
}

}  // namespace rankscope::app
