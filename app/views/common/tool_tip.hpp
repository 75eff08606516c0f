// SPDX-License-Identifier: GPL-3.0-or-later
// Tool tips that depend on the position in a widget.
#pragma once
#include <QHelpEvent>
#include <QToolTip>

namespace rankscope::app {

/// If the event requests a tool tip: shows the text of `words_at` for that place, or nothing if that is empty. False:
/// it is another event.
template <class WordsAt>
bool shows_tip(QEvent* event, QWidget* widget, WordsAt words_at) {
  if (event->type() != QEvent::ToolTip) return false;
  const auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), words_at(help->pos()), widget);  // without words it hides the one before
  return true;
}

}  // namespace rankscope::app
