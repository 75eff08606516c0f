// SPDX-License-Identifier: GPL-3.0-or-later
// The command palette (Ctrl+K): every action by a few letters of its name.
#pragma once
#include <QAction>
#include <QList>

#include "app/shell/choice_palette.hpp"

namespace rankscope::app {

/// True if `name` contains the letters of `query` in that order; spaces and case do not matter.
bool matches(const QString& query, const QString& name);

/// The distance of a name from the input: 0 if a word of it begins with the input, 1 if the name contains it, 2 if it
/// has only its letters.
int distance(const QString& query, const QString& name);

class CommandPalette : public ChoicePalette {
  Q_OBJECT
 public:
  CommandPalette(QList<QAction*> actions, QWidget* parent);
};

/// The list of keys (?): a table of the keys.
class HelpSheet : public QDialog {
  Q_OBJECT
 public:
  HelpSheet(const QList<QAction*>& actions, QWidget* parent);
};

}  // namespace rankscope::app
