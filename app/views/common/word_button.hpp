// SPDX-License-Identifier: GPL-3.0-or-later
// A flat button with a word or a symbol, as in media players.
#pragma once
#include <QToolButton>

namespace rankscope::app {

/// `help` is its tool tip, and its name for screen readers.
inline QToolButton* word_button(QWidget* parent, const QString& words, const QString& help) {
  auto* button = new QToolButton(parent);
  button->setText(words);
  button->setToolTip(help);
  button->setAccessibleName(help);
  button->setProperty("role", QStringLiteral("button"));
  return button;
}

}  // namespace rankscope::app
