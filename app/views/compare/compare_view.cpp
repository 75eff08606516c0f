// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/compare/compare_view.hpp"

#include <QPainter>

#include "app/views/common/style.hpp"

namespace rankscope::app {

void CompareView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(interface_font());
  painter.fillRect(rect(), color(colours().ground));
  paint_empty(
      painter, rect(), colours(), tr("Comparing runs is not there yet"),
      tr("It will lay two runs under each other, aligned by step, with a table of differences. Until then, every view "
         "compares the run with its prediction, and a second window can show a second recording."));
}

}  // namespace rankscope::app
