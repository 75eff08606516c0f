// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/command_palette.hpp"

#include <QGridLayout>
#include <QLabel>
#include <algorithm>

namespace rankscope::app {
namespace {

QString plain_name(const QAction* action) { return action->text().remove(QLatin1Char('&')); }

QString keys_of(const QAction* action) {
  QStringList keys;
  for (const QKeySequence& key : action->shortcuts()) keys << key.toString(QKeySequence::NativeText);
  return keys.join(QStringLiteral(", "));
}

Choices commands_for(const QString& query, const QList<QAction*>& actions) {
  QList<QAction*> found;
  for (QAction* action : actions)
    if (const QString name = plain_name(action); action->isEnabled() && !name.isEmpty() && matches(query, name))
      found << action;
  std::stable_sort(found.begin(), found.end(), [&](const QAction* a, const QAction* b) {
    return distance(query, plain_name(a)) < distance(query, plain_name(b));
  });
  Choices choices;
  for (QAction* action : found)
    choices.list << Choice{plain_name(action), keys_of(action), [action] { action->trigger(); }};
  if (found.isEmpty()) choices.note = CommandPalette::tr("No command matches");
  return choices;
}

}  // namespace

bool matches(const QString& query, const QString& name) {
  qsizetype at = 0;
  for (const QChar letter : query) {
    if (letter.isSpace()) continue;
    at = name.indexOf(letter, at, Qt::CaseInsensitive);
    if (at < 0) return false;
    ++at;
  }
  return true;
}

int distance(const QString& query, const QString& name) {
  const qsizetype at = name.indexOf(query.trimmed(), 0, Qt::CaseInsensitive);
  if (at < 0) return 2;
  return at == 0 || name[at - 1].isSpace() ? 0 : 1;
}

CommandPalette::CommandPalette(QList<QAction*> actions, QWidget* parent)
    : ChoicePalette(
          tr("Command"), tr("Type a command…"),
          [actions = std::move(actions)](const QString& query) { return commands_for(query, actions); }, parent) {}

HelpSheet::HelpSheet(const QList<QAction*>& actions, QWidget* parent) : QDialog(parent) {
  setAttribute(Qt::WA_DeleteOnClose);
  setWindowTitle(tr("Keys"));
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(24, 20, 24, 20);
  grid->setHorizontalSpacing(24);
  grid->setVerticalSpacing(6);
  int row = 0;
  const auto heading = [&](const QString& words, int column) {
    auto* label = new QLabel(words, this);
    label->setProperty("role", QStringLiteral("heading"));
    grid->addWidget(label, 0, column, 1, 2);
  };
  const auto line = [&](const QString& keys, const QString& words, int column) {
    auto* key = new QLabel(keys, this);
    key->setProperty("role", QStringLiteral("dim"));
    grid->addWidget(key, ++row, column);
    grid->addWidget(new QLabel(words, this), row, column + 1);
  };
  heading(tr("Time line"), 0);
  line(tr("W  S"), tr("zoom in, zoom out"), 0);
  line(tr("A  D"), tr("move left, move right"), 0);
  line(tr("wheel"), tr("zoom at the pointer"), 0);
  line(tr("drag"), tr("move"), 0);
  line(tr("Shift+drag"), tr("select a range"), 0);
  line(tr("F"), tr("fit the selection, or the step"), 0);
  line(tr("Home"), tr("show everything"), 0);
  line(QStringLiteral(".  ,"), tr("next op, previous op"), 0);
  line(QStringLiteral("N  P"), tr("next op on any rank, previous"), 0);
  line(QStringLiteral("↑  ↓"), tr("the same time on another rank"), 0);
  line(QStringLiteral("]  ["), tr("next step, previous step"), 0);
  line(tr("R"), tr("set range to selected op"), 0);
  line(tr("G"), tr("group ranks by stage, tensor or data group"), 0);
  line(tr("T"), tr("pin or unpin the rank at the top"), 0);
  line(tr("PgUp  PgDn"), tr("scroll ranks"), 0);
  line(tr("Space"), tr("play in slow motion, pause"), 0);
  line(tr("Esc"), tr("clear selection"), 0);
  row = 0;
  heading(tr("Window"), 2);
  for (const QAction* action : actions)
    if (const QString keys = keys_of(action); !keys.isEmpty()) line(keys, plain_name(action), 2);
}

}  // namespace rankscope::app
