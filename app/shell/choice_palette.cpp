// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/choice_palette.hpp"

#include <QApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "app/views/common/parts.hpp"

namespace rankscope::app {
namespace {

constexpr QSize palette_size(560, 380);
constexpr int item_height = 28;
constexpr int hint_role = Qt::UserRole, hint_gap = 16, item_padding = 8;  ///< the padding in the style sheet

/// A line with its hint at the right; the text is shortened if both do not fit.
class LineWithHint : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem line = option;
    initStyleOption(&line, index);
    const QString hint = index.data(hint_role).toString();
    const QRect room = line.rect.adjusted(item_padding, 0, -item_padding, 0);
    const int taken = hint.isEmpty() ? 0 : line.fontMetrics.horizontalAdvance(hint) + hint_gap;
    line.text = line.fontMetrics.elidedText(line.text, Qt::ElideRight, std::max(0, room.width() - taken));
    line.widget->style()->drawControl(QStyle::CE_ItemViewItem, &line, painter, line.widget);
    const bool chosen = line.state & QStyle::State_Selected;
    painter->setFont(line.font);
    // The window's: a style sheet fades the list's own.
    painter->setPen(QApplication::palette().color(chosen ? QPalette::HighlightedText : QPalette::PlaceholderText));
    painter->drawText(room, Qt::AlignRight | Qt::AlignVCenter, hint);
  }
};

}  // namespace

ChoicePalette::ChoicePalette(const QString& name, const QString& placeholder,
                             std::function<Choices(const QString&)> choices_for, QWidget* parent)
    : QDialog(parent, Qt::Dialog | Qt::FramelessWindowHint),
      choices_for_(std::move(choices_for)),
      line_(new QLineEdit(this)),
      list_(new QListWidget(this)),
      note_(make_label({}, "dim", this)) {
  setAttribute(Qt::WA_DeleteOnClose);
  setAccessibleName(name);
  setFixedSize(palette_size.boundedTo(parent->size()));
  line_->setPlaceholderText(placeholder);
  line_->setAccessibleName(name);
  line_->installEventFilter(this);
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setItemDelegate(new LineWithHint(list_));
  list_->setAccessibleName(tr("%1: matches").arg(name));
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
    auto* item = new QListWidgetItem(choice.text, list_);
    item->setData(hint_role, choice.hint);
    item->setSizeHint(QSize(0, item_height));
    item->setData(Qt::AccessibleTextRole,
                  choice.hint.isEmpty() ? choice.text : choice.text + QStringLiteral(", ") + choice.hint);
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

bool ChoicePalette::event(QEvent* event) {
  if (event->type() == QEvent::WindowDeactivate) close();
  return QDialog::event(event);
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
