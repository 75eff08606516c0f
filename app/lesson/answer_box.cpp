// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/answer_box.hpp"

#include <QButtonGroup>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMouseEvent>
#include <QRadioButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/lesson/answer.hpp"
#include "app/lesson/lab_label.hpp"
#include "app/views/common/style.hpp"
#include "engine/lesson/lab/expression.hpp"

namespace rankscope::app {
namespace {

constexpr int indent = 6;

/// "27.3 %" and "27.3" are the same number where the question's unit is %.
QString without_unit(const QString& text, const QString& unit) {
  const QString trimmed = text.trimmed();
  if (unit.isEmpty() || !trimmed.endsWith(unit, Qt::CaseInsensitive)) return trimmed;
  return trimmed.chopped(unit.size()).trimmed();
}

bool is_plain(const QString& text) {
  bool ok = false;
  text.toDouble(&ok);
  return ok;
}

}  // namespace

NumberBox::NumberBox(const Question& question, QWidget* parent)
    : AnswerBox(parent),
      unit_(QString::fromStdString(question.unit)),
      line_(new QLineEdit(this)),
      value_(make_label({}, "dim", this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  auto* row = new QHBoxLayout;
  row->setSpacing(indent);
  row->addWidget(line_, 1);
  if (!unit_.isEmpty()) {
    auto* unit = new QLabel(unit_, this);
    unit->setFont(number_font());
    row->addWidget(unit);
  }
  column->addLayout(row);
  column->addWidget(value_);
  value_->hide();
  line_->setFont(number_font());
  line_->setMinimumWidth(line_->fontMetrics().horizontalAdvance(QStringLiteral("37,000.00")) + 22);
  line_->setPlaceholderText(tr("42 or 3/11"));
  line_->setToolTip(tr("A number, or arithmetic: + − × / ^ ( ) sqrt ln log2 exp"));
  line_->setAccessibleName(QString::fromStdString(question.ask));
  connect(line_, &QLineEdit::textChanged, this, &NumberBox::take_text);
  connect(line_, &QLineEdit::returnPressed, this, &AnswerBox::submitted);
}

void NumberBox::take_text() {
  const QString text = without_unit(line_->text(), unit_);
  std::string why;
  const auto value = text.isEmpty() ? std::optional<double>() : evaluate(text.toStdString(), &why);
  QString words;
  if (!value && !text.isEmpty()) words = QString::fromStdString(why);
  if (value && !is_plain(text)) words = QStringLiteral("= %1 %2").arg(*value, 0, 'g', 6).arg(unit_).trimmed();
  value_->setText(words);
  value_->setVisible(!words.isEmpty());
  emit changed();
}

std::optional<Attempt> NumberBox::attempt() const {
  const auto value = evaluate(without_unit(line_->text(), unit_).toStdString());
  return value ? std::optional<Attempt>(*value) : std::nullopt;
}

QWidget* NumberBox::input() { return line_; }

void NumberBox::set_value(double value) { line_->setText(QString::number(value, 'f', 0)); }

ChoiceBox::ChoiceBox(const Question& question, QWidget* parent)
    : AnswerBox(parent), options_(question.options), buttons_(new QButtonGroup(this)) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(indent);
  grid->setVerticalSpacing(indent);
  grid->setColumnStretch(1, 1);
  for (std::size_t i = 0; i < options_.size(); ++i) {
    const int line = static_cast<int>(i);
    const QString words = QString::fromStdString(options_[i]);
    auto* button = new QRadioButton(this);
    button->setAccessibleName(words);
    buttons_->addButton(button, line);
    auto* label = make_label(words, "text", this);
    label->setBuddy(button);
    label->setProperty("option", line);
    label->installEventFilter(this);  // a click on the text is a click on the button
    grid->addWidget(button, line, 0, Qt::AlignTop);
    grid->addWidget(label, line, 1);
  }
  connect(buttons_, &QButtonGroup::idClicked, this, &AnswerBox::changed);
}

bool ChoiceBox::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::MouseButtonRelease)
    if (const QVariant option = watched->property("option"); option.isValid()) {
      buttons_->button(option.toInt())->click();
      return true;
    }
  return AnswerBox::eventFilter(watched, event);
}

std::optional<Attempt> ChoiceBox::attempt() const {
  const int chosen = buttons_->checkedId();
  return chosen < 0 ? std::nullopt : std::optional<Attempt>(options_[static_cast<std::size_t>(chosen)]);
}

QWidget* ChoiceBox::input() { return buttons_->button(0); }

OrderBox::OrderBox(const Question& question, QWidget* parent) : AnswerBox(parent), items_(shuffled(question)) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(2);
  grid->setVerticalSpacing(4);
  grid->setColumnStretch(0, 1);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const int line = static_cast<int>(i);
    words_.push_back(make_label({}, "text", this));
    grid->addWidget(words_.back(), line, 0);
    for (const int by : {-1, 1}) {
      auto* button = new QToolButton(this);
      button->setArrowType(by < 0 ? Qt::UpArrow : Qt::DownArrow);
      button->setToolTip(by < 0 ? tr("Earlier") : tr("Later"));
      connect(button, &QToolButton::clicked, this, [this, i, by] { move(i, by); });
      grid->addWidget(button, line, by < 0 ? 1 : 2, Qt::AlignTop);
      (by < 0 ? ups_ : downs_).push_back(button);
    }
  }
  ups_.front()->setEnabled(false);
  downs_.back()->setEnabled(false);
  show_items();
}

void OrderBox::show_items() {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const QString item = QString::fromStdString(items_[i]);
    words_[i]->setText(tr("%1. %2").arg(i + 1).arg(item));
    ups_[i]->setAccessibleName(tr("%1: earlier").arg(item));
    downs_[i]->setAccessibleName(tr("%1: later").arg(item));
  }
}

void OrderBox::move(std::size_t item, int by) {
  const std::size_t other = item + static_cast<std::size_t>(by);
  if (item >= items_.size() || other >= items_.size()) return;
  std::swap(items_[item], items_[other]);
  show_items();
  // The keyboard focus moves with the item.
  auto* next = (by < 0 ? ups_ : downs_)[other];
  (next->isEnabled() ? next : (by < 0 ? downs_ : ups_)[other])->setFocus();
  emit changed();
}

std::optional<Attempt> OrderBox::attempt() const { return items_; }

QWidget* OrderBox::input() { return downs_.front(); }

PointBox::PointBox(const Question& question, std::optional<PointedOp> chosen, QWidget* parent)
    : AnswerBox(parent), question_(question), words_(make_label({}, "text", this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(words_);
  set_chosen(chosen);
}

void PointBox::set_chosen(std::optional<PointedOp> chosen) {
  chosen_ = chosen;
  words_->setText(chosen ? tr("Selected: %1").arg(attempt_words(question_, *chosen))
                         : tr("Click it in the time line."));
  emit changed();
}

std::optional<Attempt> PointBox::attempt() const { return chosen_ ? std::optional<Attempt>(*chosen_) : std::nullopt; }

AnswerBox* make_answer_box(const Question& question, std::optional<PointedOp> chosen, QWidget* parent) {
  switch (question.kind) {
    case QuestionKind::choice: return new ChoiceBox(question, parent);
    case QuestionKind::order: return new OrderBox(question, parent);
    case QuestionKind::point: return new PointBox(question, chosen, parent);
    default: return new NumberBox(question, parent);
  }
}

}  // namespace rankscope::app
