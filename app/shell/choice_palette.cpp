// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/choice_palette.hpp"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/views/common/elided_label.hpp"

namespace rankscope::app {
namespace {

constexpr QSize palette_size(560, 380);

/// A line with its hint at the right.
QWidget* line_of(const Choice& choice, QWidget* parent) {
  auto* line = new QWidget(parent);
  auto* row = new QHBoxLayout(line);
  row->setContentsMargins(6, 2, 6, 2);
  auto* text = new ElidedLabel(line);
  text->set_text(choice.text);
  auto* hint = new QLabel(choice.hint, line);
  hint->setProperty("role", QStringLiteral("dim"));
  row->addWidget(text, 1);
  row->addWidget(hint);
  return line;
}

}  // namespace

ChoicePalette::ChoicePalette(const QString& name, const QString& placeholder,
                             std::function<Choices(const QString&)> choices_for, QWidget* parent)
    : QDialog(parent, Qt::Popup),
      choices_for_(std::move(choices_for)),
      line_(new QLineEdit(this)),
      list_(new QListWidget(this)),
      note_(new QLabel(this)) {
  setAttribute(Qt::WA_DeleteOnClose);
  setAccessibleName(name);
  setFixedSize(palette_size.boundedTo(parent->size()));
  line_->setPlaceholderText(placeholder);
  line_->setAccessibleName(name);
  line_->installEventFilter(this);
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setAccessibleName(tr("%1: what matches").arg(name));
  note_->setProperty("role", QStringLiteral("dim"));
  note_->setWordWrap(true);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(8, 8, 8, 8);
  column->addWidget(line_);
  column->addWidget(list_, 1);
  column->addWidget(note_);
  connect(line_, &QLineEdit::textChanged, this, &ChoicePalette::fill);
  connect(list_, &QListWidget::itemClicked, this, &ChoicePalette::choose);
  fill({});
  line_->setFocus();
}

QStringList ChoicePalette::shown() const {
  QStringList names;
  for (const Choice& choice : choices_.list) names << choice.text;
  return names;
}

QString ChoicePalette::note() const { return note_->text(); }

void ChoicePalette::fill(const QString& query) {
  choices_ = choices_for_(query);
  list_->clear();
  for (const Choice& choice : choices_.list) {
    auto* item = new QListWidgetItem(list_);
    QWidget* line = line_of(choice, list_);
    item->setSizeHint(line->sizeHint());
    item->setData(Qt::AccessibleTextRole, choice.hint.isEmpty() ? choice.text : choice.text + QStringLiteral(", ") + choice.hint);
    list_->setItemWidget(item, line);
  }
  list_->setCurrentRow(0);
  note_->setText(choices_.note);
  note_->setVisible(!choices_.note.isEmpty());
}

void ChoicePalette::choose() {
  const int row = list_->currentRow();
  const auto take = row >= 0 ? choices_.list[row].take : std::function<void()>();
  close();
  if (take) take();
}

bool ChoicePalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched == line_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Down || key == Qt::Key_Up) {
      const int count = std::max(1, list_->count());
      list_->setCurrentRow((list_->currentRow() + (key == Qt::Key_Down ? 1 : count - 1)) % count);
      return true;
    }
    if (key == Qt::Key_Return || key == Qt::Key_Enter) {
      choose();
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
}

}  // namespace rankscope::app
