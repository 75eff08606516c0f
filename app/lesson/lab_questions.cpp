// SPDX-License-Identifier: GPL-3.0-or-later
// The questions of a lesson: a card for each, the saved answers, and the answers of a class.
#include <QDateTime>
#include <QPushButton>
#include <QScrollBar>
#include <QTimer>

#include "app/lesson/answers_plot.hpp"
#include "app/lesson/class_table.hpp"
#include "app/lesson/lab_panel.hpp"
#include "app/lesson/question_card.hpp"
#include "app/views/common/parts.hpp"
#include "engine/lesson/lab/translation.hpp"

namespace rankscope::app {

void LabPanel::add_question(std::size_t index) {
  const Answer& answer = answers_[index];
  CardContext context;
  context.colours = &colours();
  context.number = answers_.size() == 1 ? tr("Question") : tr("Question %1 of %2").arg(index + 1).arg(answers_.size());
  context.result_source = result_source(answer);
  context.waits_for = waits_for(answer);
  context.chosen = pointed_;
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
  if (first_question_ == nullptr && answer.accepts_try()) {
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
  QTimer::singleShot(0, page_, [this, card = cards_[index]] {  // after the page has its heights
    ensureWidgetVisible(card, 0, layout_->spacing());
  });
}

void LabPanel::keep(std::size_t question, const Attempt& attempt) {
  if (question >= answers_.size() || !answers_[question].accepts_try()) return;
  Answer& answer = answers_[question];
  answer.tries.push_back({attempt, QDateTime::currentDateTimeUtc().toString(Qt::ISODate)});
  store(answer);
  send_to_teacher(question);
  take_figures();
  rebuild();
  emit answers_changed();
}

void LabPanel::send_to_teacher(std::size_t question) {
  if (room_ == nullptr || !room_->attending()) return;
  sent_to_teacher_.insert(question);
  const Answer& answer = answers_[question];
  const auto right = answer.truth();
  for (std::size_t i = 0; i < answer.tries.size(); ++i) {
    const Try& one = answer.tries[i];
    const auto verdict = !right                                                   ? classroom::Verdict::open
                         : judge(answer.question, one.attempt, *right).accepted() ? classroom::Verdict::right
                                                                                  : classroom::Verdict::wrong;
    const QString trouble =
        room_->answer({lab_name().toStdString(), static_cast<int>(question), to_original(answer.question, one.attempt),
                       static_cast<int>(i) + 1, verdict, one.at.toStdString()});
    if (!trouble.isEmpty()) emit log(trouble, true);
  }
}

void LabPanel::forget(std::size_t index) {
  Answer& answer = answers_[index];
  answer.tries.clear();
  answer.result.reset();
  store(answer);
  rebuild();
  emit answers_changed();
}

void LabPanel::store(const Answer& answer) {
  if (const QString trouble = book_.keep(lab_name(), answer); !trouble.isEmpty()) emit log(trouble, true);
}

// The answers of others would be a hint: the teacher's window, visible to all, hides them until requested.
void LabPanel::add_class(std::size_t index, QBoxLayout& column, QWidget* card) {
  const auto given = [this, index] { return last_answers(room_->students(), lesson_name(), static_cast<int>(index)); };
  if (shown_to_class_.count(index) == 0) {
    auto* show = new QPushButton(card);
    connect(show, &QPushButton::clicked, this, [this, index] {
      shown_to_class_.insert(index);
      rebuild();
    });
    class_updates_.push_back([show, given] {
      const auto count = given().size();
      show->setText(count == 1 ? tr("Show 1 answer") : tr("Show %1 answers").arg(count));
    });
    column.addWidget(show);
  } else {
    auto* line = make_label({}, "caption", card);
    auto* plot = new AnswersPlot(card);
    plot->set_theme(theme_);
    class_updates_.push_back([this, index, line, plot, given] {
      const Answer& answer = answers_[index];
      Distribution made = distribution_of(answer.question, given(), answer.open() ? answer.truth() : std::nullopt);
      line->setText(made.answers == 1 ? tr("The class: 1 answer") : tr("The class: %1 answers").arg(made.answers));
      plot->set_distribution(std::move(made));
    });
    column.addWidget(line);
    column.addWidget(plot);
  }
  class_updates_.back()();
}

}  // namespace rankscope::app
