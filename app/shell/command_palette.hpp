// SPDX-License-Identifier: GPL-3.0-or-later
// The command palette (Ctrl+K): every action by a few letters of its name.
#pragma once
#include <QAction>
#include <QList>

#include "app/shell/choice_palette.hpp"

namespace rankscope::app {

/// True when the letters of `query` stand in `name` in that order, spaces aside; case does not matter.
bool matches(const QString& query, const QString& name);

/// How far a name is from what was typed: 0 where a word of it begins so, 1 where it stands within, 2 where only its
/// letters do.
int distance(const QString& query, const QString& name);

class CommandPalette : public ChoicePalette {
  Q_OBJECT
 public:
  CommandPalette(QList<QAction*> actions, QWidget* parent);
};

/// The sheet of keys (?): a table of what the keys do.
class HelpSheet : public QDialog {
  Q_OBJECT
 public:
  HelpSheet(const QList<QAction*>& actions, QWidget* parent);
};

}  // namespace rankscope::app
