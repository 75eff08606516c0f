// SPDX-License-Identifier: GPL-3.0-or-later
// The questions of a lesson: a card for each, the saved answers, and the answers of a class.
#include <QDateTime>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QTimer>

#include "app/lesson/lab_label.hpp"
#include "app/lesson/lab_panel.hpp"
#include "app/lesson/question_card.hpp"
#include "app/lesson/share_guess.hpp"

namespace rankscope::app {

void LabPanel::add_question(std::size_t index) {
  const Answer& answer = answers_[index];
  CardContext context;
  context.colours = colours_;
  context.number = answers_.size() == 1 ? tr("Question") : tr("Question %1 of %2").arg(index + 1).arg(answers_.size());
  context.told_by = told_by(answer);
  context.waits_for = waits_for(answer);
  context.chosen = selected_;
  context.can_run = !simulated_;
  if (answer.question.drawn()) {
    context.series = series_size(figures_.latest()->scenario, QString::fromStdString(answer.question.answer_from));
    waits_for_size_ = waits_for_size_ || context.series == 0;
  }
  auto* card = new QuestionCard(answer, context, page_);
  // The pressed button is on the page that is rebuilt: its handler must end first.
  connect(
      card, &QuestionCard::submitted, this, [this, index](const Attempt& attempt) { submit(index, attempt); },
      Qt::QueuedConnection);
  connect(card, &QuestionCard::again_wanted, this, [this, index] { forget(index); });
  connect(card, &QuestionCard::evidence_wanted, this,
          [this, index] { emit evidence_wanted(*answers_[index].question.evidence); });
  connect(card, &QuestionCard::paths_wanted, this,
          [this, index] { emit paths_wanted(*answers_[index].question.paths); });
  connect(card, &QuestionCard::variant_wanted, this, [this, index] {
    Experiment run;
    run.command = "run";
    run.settings = answers_[index].question.variant->settings;
    emit experiment_wanted(run);
  });
  if (room_ != nullptr && room_->teaching()) add_class(index, card->column(), card);
  layout_->addWidget(card);
  cards_.push_back(card);
  if (first_question_ == nullptr && answer.wants_try()) {
    first_question_ = card;
    first_input_ = card->input();
  }
}

void LabPanel::show_question() {
  if (first_question_ == nullptr) return;
  verticalScrollBar()->setValue(first_question_->y() - layout_->spacing());
  if (first_input_ != nullptr) first_input_->setFocus(Qt::TabFocusReason);
}

// The keyboard focus moves to the next question that needs an answer, and after the last one to the widget that runs
// the plan. An answered question stays visible, so that its feedback can be read.
void LabPanel::submit(std::size_t index, const Attempt& attempt) {
  keep(index, attempt);
  if (index >= answers_.size()) return;
  const Answer& answer = answers_[index];
  if (answer.open() && answer.question.evidence) emit evidence_wanted(*answer.question.evidence);
  if (first_input_ == nullptr) return emit all_answered();
  first_input_->setFocus(Qt::TabFocusReason);
  QTimer::singleShot(0, page_, [this, card = cards_[index]] {  // once the page has its heights
    ensureWidgetVisible(card, 0, layout_->spacing());
  });
}

void LabPanel::keep(std::size_t question, const Attempt& attempt) {
  if (question >= answers_.size() || !answers_[question].wants_try()) return;
  Answer& answer = answers_[question];
  answer.tries.push_back({attempt, QDateTime::currentDateTimeUtc().toString(Qt::ISODate)});
  if (room_ != nullptr && answer.guess()) room_->answer(lab_name(), static_cast<int>(question), *answer.guess());
  store(answer);
  take_figures();
  rebuild();
  emit answers_changed();
}

void LabPanel::forget(std::size_t index) {
  Answer& answer = answers_[index];
  answer.tries.clear();
  answer.told.reset();
  store(answer);
  rebuild();
  emit answers_changed();
}

void LabPanel::store(const Answer& answer) {
  if (const QString trouble = book_.keep(lab_name(), answer); !trouble.isEmpty()) emit log(trouble, true);
}

// The answers of others would be a hint: the teacher's window, visible to all, hides them until requested.
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
    if (answer.open()) histogram->set_measured(answer.told_number());
    class_updates_.push_back([line, histogram, guesses, count] {
      line->setText(tr("The class: %1").arg(count()));
      histogram->set_guesses(guesses());
    });
    column.addWidget(line);
    column.addWidget(histogram);
  }
  class_updates_.back()();
}

}  // namespace rankscope::app
