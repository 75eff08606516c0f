// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/painted_widget.hpp"

#include <QHelpEvent>
#include <QToolTip>
#include <algorithm>

#include "app/views/common/rows_table.hpp"

namespace rankscope::app {

void PaintedWidget::set_theme(Theme theme) {
  for (RowsTable* table : findChildren<RowsTable*>()) table->set_theme(theme);
  // From the innermost out, so that a part finds new colours in what it contains.
  const QList<PaintedWidget*> parts = findChildren<PaintedWidget*>();
  std::for_each(parts.rbegin(), parts.rend(), [theme](PaintedWidget* part) { part->take_theme(theme); });
  take_theme(theme);
}

void PaintedWidget::take_theme(Theme theme) {
  colours_ = &palette_of(theme);
  take_colours();
  update();
}

bool PaintedWidget::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), tip_at(help->pos()), this);  // an empty text hides the previous one
  return true;
}

}  // namespace rankscope::app
