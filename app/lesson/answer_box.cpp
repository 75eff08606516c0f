// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/answer_box.hpp"

#include <QButtonGroup>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMouseEvent>
#include <QRadioButton>

#include "app/lesson/order_box.hpp"
#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "engine/lesson/lab/expression.hpp"

namespace rankscope::app {
namespace {

constexpr int indent = 6;

/// "27.3 %" and "27.3" are the same number if the question's unit is %.
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
  auto* column = column_in(this, 4);
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

PointBox::PointBox(const Question& question, const Pointed& chosen, QWidget* parent)
    : AnswerBox(parent), question_(question), words_(make_label({}, "text", this)) {
  column_in(this, 0)->addWidget(words_);
  set_chosen(chosen);
}

void PointBox::set_chosen(const Pointed& chosen) {
  chosen_ = chosen.attempt_for(question_);
  QString where;
  switch (question_.at) {
    case PointAt::op: where = tr("Click it in the time line."); break;
    case PointAt::rank: where = tr("Click it in the Grid, or in the time line."); break;
    case PointAt::link: where = tr("Click it in the Topology view, or in the Collectives view's map."); break;
  }
  words_->setText(chosen_ ? tr("Selected: %1").arg(attempt_words(question_, *chosen_)) : where);
  emit changed();
}

AnswerBox* make_answer_box(const Question& question, const Pointed& chosen, QWidget* parent) {
  switch (question.kind) {
    case QuestionKind::choice: return new ChoiceBox(question, parent);
    case QuestionKind::order: return new OrderBox(question, parent);
    case QuestionKind::point: return new PointBox(question, chosen, parent);
    default: return new NumberBox(question, parent);
  }
}

}  // namespace rankscope::app
