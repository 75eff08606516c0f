// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/order_box.hpp"

#include <QKeyEvent>
#include <QListWidget>
#include <QTimer>
#include <QToolButton>
#include <algorithm>

#include "app/views/common/parts.hpp"

namespace rankscope::app {
namespace {

constexpr int item_margin = 28, item_padding = 12;  ///< beside and around an item's text, as in the style

}  // namespace

OrderBox::OrderBox(const Question& question, QWidget* parent)
    : AnswerBox(parent),
      items_(shuffled(question)),
      list_(new QListWidget(this)),
      up_(new QToolButton(this)),
      down_(new QToolButton(this)) {
  auto* column = column_in(this, 4);
  list_->setDragDropMode(QAbstractItemView::InternalMove);
  list_->setDefaultDropAction(Qt::MoveAction);
  list_->setSelectionMode(QAbstractItemView::SingleSelection);
  list_->setWordWrap(true);
  list_->setTextElideMode(Qt::ElideNone);
  list_->setResizeMode(QListView::Adjust);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setProperty(own_keys_property, true);
  list_->setAccessibleName(QString::fromStdString(question.ask));
  list_->setToolTip(
      tr("Drag an item to its place; or choose it, and move it with the buttons or with Alt+\u2191 and Alt+\u2193"));
  list_->installEventFilter(this);
  column->addWidget(list_);
  auto* row = new QHBoxLayout;
  row->setSpacing(4);
  for (const auto& [button, by] : {std::pair{up_, -1}, std::pair{down_, 1}}) {
    button->setArrowType(by < 0 ? Qt::UpArrow : Qt::DownArrow);
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setText(by < 0 ? tr("Earlier") : tr("Later"));
    connect(button, &QToolButton::clicked, this, [this, by = by] {
      if (list_->currentRow() >= 0) move(static_cast<std::size_t>(list_->currentRow()), by);
    });
    row->addWidget(button);
  }
  row->addStretch(1);
  column->addLayout(row);
  show_items();
  list_->setCurrentRow(0);
  connect(list_, &QListWidget::currentRowChanged, this, &OrderBox::take_row);
  // A drop inserts the item at its new place, and afterwards removes it at its old one.
  connect(list_->model(), &QAbstractItemModel::rowsRemoved, this, &OrderBox::take_dragged, Qt::QueuedConnection);
  connect(list_->model(), &QAbstractItemModel::rowsMoved, this, &OrderBox::take_dragged, Qt::QueuedConnection);
  take_row();
}

void OrderBox::show_items() {
  filling_ = true;
  const int row = list_->currentRow();
  list_->clear();
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const QString item = QString::fromStdString(items_[i]);
    auto* shown = new QListWidgetItem(tr("%1. %2").arg(i + 1).arg(item), list_);
    shown->setData(Qt::UserRole, item);
    shown->setFlags(shown->flags() & ~Qt::ItemIsDropEnabled);  // between items, not onto one
  }
  list_->setCurrentRow(row);
  filling_ = false;
  fit_height();
}

void OrderBox::take_dragged() {
  if (filling_) return;
  std::vector<std::string> dragged;
  for (int i = 0; i < list_->count(); ++i)
    dragged.push_back(list_->item(i)->data(Qt::UserRole).toString().toStdString());
  if (dragged == items_) return;
  // Items from elsewhere are removed, and lost ones are restored.
  if (!std::is_permutation(dragged.begin(), dragged.end(), items_.begin(), items_.end())) return show_items();
  items_ = std::move(dragged);
  show_items();
  take_row();
  emit changed();
}

void OrderBox::take_row() {
  const int row = list_->currentRow();
  up_->setEnabled(row > 0);
  down_->setEnabled(row >= 0 && row + 1 < list_->count());
  const QString item = row >= 0 ? QString::fromStdString(items_[static_cast<std::size_t>(row)]) : QString();
  up_->setAccessibleName(tr("%1: earlier").arg(item));
  down_->setAccessibleName(tr("%1: later").arg(item));
}

void OrderBox::move(std::size_t item, int by) {
  const std::size_t other = item + static_cast<std::size_t>(by);
  if (item >= items_.size() || other >= items_.size()) return;
  std::swap(items_[item], items_[other]);
  show_items();
  list_->setCurrentRow(static_cast<int>(other));  // the selection moves with the item
  take_row();
  emit changed();
}

bool OrderBox::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    auto* key = static_cast<QKeyEvent*>(event);
    const bool arrow = key->key() == Qt::Key_Up || key->key() == Qt::Key_Down;
    if (arrow && key->modifiers() & Qt::AltModifier && list_->currentRow() >= 0) {
      move(static_cast<std::size_t>(list_->currentRow()), key->key() == Qt::Key_Up ? -1 : 1);
      return true;
    }
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
      emit submitted();
      return true;
    }
  }
  return AnswerBox::eventFilter(watched, event);
}

// All items are completely visible without a scroll bar: the panel scrolls, not a list in it.
void OrderBox::fit_height() {
  int height = 2 * list_->frameWidth() + 2;
  const int wide = list_->viewport()->width();
  for (int i = 0; i < list_->count(); ++i) {
    const QRect words = list_->fontMetrics().boundingRect(QRect(0, 0, std::max(wide - item_margin, 40), 4000),
                                                          Qt::TextWordWrap, list_->item(i)->text());
    list_->item(i)->setSizeHint(QSize(wide, words.height() + item_padding));
  }
  list_->doItemsLayout();
  for (int i = 0; i < list_->count(); ++i) height += list_->visualItemRect(list_->item(i)).height();
  if (height != list_->height()) list_->setFixedHeight(height);
}

void OrderBox::resizeEvent(QResizeEvent* event) {
  AnswerBox::resizeEvent(event);
  QTimer::singleShot(0, this, [this] { fit_height(); });  // after the list has its width
}

QWidget* OrderBox::input() { return list_; }

}  // namespace rankscope::app
