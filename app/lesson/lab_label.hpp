// SPDX-License-Identifier: GPL-3.0-or-later
// Labels of a lesson's panel, with line wrapping.
#pragma once
#include <QLabel>

namespace rankscope::app {

inline QLabel* make_label(const QString& words, const char* role, QWidget* parent) {
  auto* label = new QLabel(words, parent);
  label->setWordWrap(true);
  label->setProperty("role", QLatin1String(role));
  return label;
}

}  // namespace rankscope::app
