// SPDX-License-Identifier: GPL-3.0-or-later
// The questions of a lesson: a card for each, how it is answered, and what became of it.
#include <QDoubleSpinBox>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QTimer>
#include <numeric>

#include "app/lesson/lab_label.hpp"
#include "app/lesson/lab_panel.hpp"
#include "app/lesson/share_guess.hpp"
#include "app/lesson/sketch.hpp"
#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

constexpr int card_width = 190;  ///< inside of a question's card, in the narrowest panel

/// A number whose Enter submits it.
class GuessBox : public QDoubleSpinBox {
 public:
  GuessBox(std::function<void()> submit, QWidget* parent) : QDoubleSpinBox(parent), submit_(std::move(submit)) {}

 protected:
  void keyPressEvent(QKeyEvent* event) override {
    QDoubleSpinBox::keyPressEvent(event);
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) submit_();
  }

 private:
  std::function<void()> submit_;
};

/// Enter presses it, too, while it has the focus.
QPushButton* make_button(const QString& words, QWidget* parent) {
  auto* button = new QPushButton(words, parent);
  button->setAutoDefault(true);
  return button;
}

}  // namespace

void LabPanel::add_question(std::size_t index) {
  const Answer& answer = answers_[index];
  auto* card = new QFrame(page_);
  card->setProperty("role", QStringLiteral("card"));
  auto* column = new QVBoxLayout(card);
  column->setContentsMargins(12, 10, 12, 12);
  column->setSpacing(8);
  const QString number =
      answers_.size() == 1 ? tr("Question") : tr("Question %1 of %2").arg(index + 1).arg(answers_.size());
  column->addWidget(make_label(number, "caption", card));
  column->addWidget(make_label(QString::fromStdString(answer.question.ask), "text", card));
  if (answer.question.drawn() && (!answer.guess || !answer.drawn.empty())) add_sketch(index, *column, card);
  if (!answer.guess) {
    if (!answer.question.drawn()) add_guess(index, *column, card);
  } else {
    if (answer.question.unit == "%") add_drawn(answer, *column, card);
    if (answer.open())
      add_verdict(answer, *column, card);
    else
      column->addWidget(make_label(kept_words(answer), "dim", card));
  }
  if (room_ != nullptr && room_->teaching()) add_class(index, *column, card);
  layout_->addWidget(card);
  if (first_question_ == nullptr && !answer.guess) first_question_ = card;
}

QString LabPanel::kept_words(const Answer& answer) const {
  const QString kept = answer.drawn.empty() ? tr("Your guess: %1.").arg(guess_text(answer.question, *answer.guess))
                                            : tr("Drawing saved.");
  if (answer.of_paths()) return kept + tr(" Computing the paths…");
  return kept + (simulated_ ? tr(" Simulating…") : tr(" Press Run to check."));
}

void LabPanel::add_verdict(const Answer& answer, QVBoxLayout& column, QWidget* card) {
  if (answer.drawn.empty())
    column.addWidget(make_label(tr("You: %1. %2: %3.")
                                    .arg(value_text(answer.question, *answer.guess), source_name(answer),
                                         value_text(answer.question, *answer.measured)),
                                "text", card));
  column.addWidget(make_label(verdict_words(answer), grade_of(answer) == Grade::wrong ? "bad" : "good", card));
  if (!answer.question.why.empty())
    column.addWidget(make_label(QString::fromStdString(answer.question.why), "dim", card));
  if (!answer.of_paths()) return;
  auto* look = new QPushButton(tr("Show these paths"), card);
  look->setProperty("role", QStringLiteral("link"));
  connect(look, &QPushButton::clicked, this, [this, request = *answer.question.paths] { emit paths_wanted(request); });
  column.addWidget(look, 0, Qt::AlignLeft);
}

void LabPanel::show_question() {
  if (first_question_ == nullptr) return;
  verticalScrollBar()->setValue(first_question_->y() - layout_->spacing());
  if (first_input_ != nullptr) first_input_->setFocus(Qt::TabFocusReason);
}

// The keyboard goes on where one would: to the next question, and after the last to whoever runs the plan.
void LabPanel::submit(const std::function<void()>& keep) {
  // The button that was pressed is on the page that is built again: its handler must end first.
  QMetaObject::invokeMethod(
      this,
      [this, keep] {
        keep();
        if (first_input_ == nullptr) return emit all_answered();
        first_input_->setFocus(Qt::TabFocusReason);
        if (auto* box = qobject_cast<QAbstractSpinBox*>(first_input_)) box->selectAll();
        QTimer::singleShot(0, page_, [this] { show_question(); });  // once the page has its heights
      },
      Qt::QueuedConnection);
}

void LabPanel::add_drawn(const Answer& answer, QVBoxLayout& column, QWidget* card) {
  auto* drawn = new ShareGuess(*colours_, part_of_step(QString::fromStdString(answer.question.answer_from)), card);
  drawn->set_value(*answer.guess);
  drawn->set_kept(true);
  drawn->set_measured(answer.measured, told_by(answer));
  column.addWidget(drawn);
}

void LabPanel::add_sketch(std::size_t index, QVBoxLayout& column, QWidget* card) {
  const Answer& answer = answers_[index];
  const Question& question = answer.question;
  const QString path = QString::fromStdString(question.answer_from);
  const std::size_t count = answer.guess ? answer.drawn.size() : series_size(figures_.latest()->scenario, path);
  if (count == 0) {
    waits_for_size_ = true;
    return;
  }
  auto* sketch = new Sketch(*colours_, count, question.most, QString::fromStdString(question.unit),
                            path.startsWith(QLatin1String("steps")) ? tr("step") : tr("rank"), card);
  sketch->setAccessibleName(QString::fromStdString(question.ask));
  column.addWidget(sketch);
  if (answer.guess) {
    sketch->set_values(answer.drawn);
    sketch->set_kept(true);
    if (answer.open()) sketch->set_measured(answer.series, source_name(answer).toLower());
    return;
  }
  auto* keep = make_button(tr("Submit drawing"), card);
  keep->setEnabled(false);
  const auto send = [this, index, sketch] {
    submit([this, index, values = sketch->values()] { keep_drawing(index, values); });
  };
  connect(sketch, &Sketch::drawn, keep, [keep] { keep->setEnabled(true); });
  connect(sketch, &Sketch::submitted, this, send);
  connect(keep, &QPushButton::clicked, this, send);
  column.addWidget(keep);
  if (first_input_ == nullptr) first_input_ = sketch;
}

void LabPanel::keep_drawing(std::size_t question, const std::vector<double>& values) {
  if (question >= answers_.size() || answers_[question].guess || values.empty()) return;
  answers_[question].drawn = values;
  keep_guess(question, std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()));
}

void LabPanel::add_guess(std::size_t index, QVBoxLayout& column, QWidget* card) {
  const Question& question = answers_[index].question;
  const bool share = question.unit == "%";
  QPushButton* keep = make_button(tr("Submit"), card);
  auto* box = new GuessBox([keep] { keep->click(); }, card);
  box->setRange(0, share ? 100 : 1e12);
  box->setDecimals(share || question.unit == "steps" ? 0 : 2);
  if (!question.unit.empty()) box->setSuffix(QLatin1Char(' ') + QString::fromStdString(question.unit));
  box->setButtonSymbols(QAbstractSpinBox::NoButtons);
  box->setAccessibleName(QString::fromStdString(question.ask));
  box->setFont(number_font());
  // As wide as there is room, not as the greatest number that could be typed: the page would be wider than the panel.
  box->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  const QString widest = share ? QStringLiteral("100 %") : box->textFromValue(99'999) + box->suffix();
  box->setMinimumWidth(box->fontMetrics().horizontalAdvance(widest) + 26);  // with the style's padding
  if (share) {
    auto* drawn = new ShareGuess(*colours_, part_of_step(QString::fromStdString(question.answer_from)), card);
    drawn->setAccessibleName(QString::fromStdString(question.ask));
    connect(drawn, &ShareGuess::value_changed, box, &QDoubleSpinBox::setValue);
    connect(box, &QDoubleSpinBox::valueChanged, drawn, &ShareGuess::set_value);
    connect(drawn, &ShareGuess::submitted, keep, &QPushButton::click);
    column.addWidget(drawn);
  }
  // Under the number where they would not fit beside each other.
  const bool beside = box->minimumWidth() + keep->sizeHint().width() <= card_width;
  auto* row = new QBoxLayout(beside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  connect(keep, &QPushButton::clicked, this,
          [this, index, box] { submit([this, index, value = box->value()] { keep_guess(index, value); }); });
  row->addWidget(box, 1);
  row->addWidget(keep);
  column.addLayout(row);
  if (first_input_ == nullptr) first_input_ = box;
}

// What others have said would be a hint: the teacher's window, which all see, keeps it back until it is asked for.
void LabPanel::add_class(std::size_t index, QVBoxLayout& column, QWidget* card) {
  const auto guesses = [this, index] { return room_->guesses(lab_name(), static_cast<int>(index)); };
  const auto count = [guesses] {
    const auto answers = guesses().size();
    return answers == 1 ? tr("1 answer") : tr("%1 answers").arg(answers);
  };
  if (told_to_class_.count(index) == 0) {
    auto* show = new QPushButton(card);
    connect(show, &QPushButton::clicked, this, [this, index] {
      told_to_class_.insert(index);
      rebuild();
    });
    class_updates_.push_back([show, count] { show->setText(tr("Show %1").arg(count())); });
    column.addWidget(show);
  } else {
    const Answer& answer = answers_[index];
    auto* line = make_label({}, "caption", card);
    auto* histogram = new GuessHistogram(*colours_, QString::fromStdString(answer.question.unit), card);
    if (answer.open()) histogram->set_measured(answer.measured);
    class_updates_.push_back([line, histogram, guesses, count] {
      line->setText(tr("The class: %1").arg(count()));
      histogram->set_guesses(guesses());
    });
    column.addWidget(line);
    column.addWidget(histogram);
  }
  class_updates_.back()();
}

void LabPanel::keep_guess(std::size_t question, double guess) {
  if (question >= answers_.size() || answers_[question].guess) return;
  answers_[question].guess = guess;
  answers_[question].measured.reset();
  if (room_ != nullptr) room_->answer(lab_name(), static_cast<int>(question), guess);
  take_figures();
  rebuild();
  emit answers_changed();
}

}  // namespace rankscope::app
