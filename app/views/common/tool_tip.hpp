// SPDX-License-Identifier: GPL-3.0-or-later
// Tool tips that depend on the position in a widget.
#pragma once
#include <QHelpEvent>
#include <QToolTip>

namespace rankscope::app {

/// Where a tool tip is asked for: shows what `words_at` says of that place, and nothing where it says nothing. False:
/// the event is about something else.
template <class WordsAt>
bool shows_tip(QEvent* event, QWidget* widget, WordsAt words_at) {
  if (event->type() != QEvent::ToolTip) return false;
  const auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), words_at(help->pos()), widget);  // without words it hides the one before
  return true;
}

}  // namespace rankscope::app
