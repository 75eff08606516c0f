// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/question_card.hpp"

#include <QPushButton>

#include "app/lesson/answer_box.hpp"
#include "app/lesson/drawn_guess.hpp"
#include "app/views/common/parts.hpp"

namespace rankscope::app {
namespace {

bool is_share(const Question& question) { return question.kind == QuestionKind::number && question.is_percentage(); }

QString answer_path(const Question& question) { return QString::fromStdString(question.answer_from); }

QString evidence_words(const Evidence& evidence) {
  if (evidence.op.empty() && evidence.rank) return QuestionCard::tr("Show rank %1 in the view").arg(*evidence.rank);
  if (!evidence.op.empty()) return QuestionCard::tr("Show the op in the view");
  return QuestionCard::tr("Show it in the view");
}

}  // namespace

QuestionCard::QuestionCard(const Answer& answer, const CardContext& context, QWidget* parent)
    : QFrame(parent), column_(column_in(this, 8, {12, 10, 12, 12})) {
  setProperty("role", QStringLiteral("card"));
  column_->addWidget(make_label(context.number, "caption", this));
  column_->addWidget(make_label(QString::fromStdString(answer.question.ask), "text", this));
  add_tries(answer, context);
  if (answer.question.drawn())
    add_drawing(answer, context);
  else if (answer.accepts_try())
    add_box(answer, context);
  if (answer.open()) add_verdict(answer, context);
}

// The previous answers and their feedback.
void QuestionCard::add_tries(const Answer& answer, const CardContext& context) {
  const Question& question = answer.question;
  if (answer.tries.empty() || answer.open()) return;
  const Attempt& last = answer.tries.back().attempt;
  const QString kept =
      question.drawn() ? tr("Drawing saved.") : tr("Your answer: %1.").arg(attempt_words(question, last));
  if (answer.waits()) {
    if (is_share(question)) add_kept_share(answer, context);
    column_->addWidget(make_label(kept + QLatin1Char(' ') + context.waits_for, "dim", this));
    if (question.variant && question.variant->runs && context.can_run)
      add_link(tr("Run this variant"), &QuestionCard::variant_wanted);
    return;
  }
  column_->addWidget(make_label(kept, "dim", this));
  column_->addWidget(make_label(verdict_words(answer), "bad", this));
  const Reply reply = *answer.reply();
  const std::string& help = reply.because.empty() ? question.hint : reply.because;
  if (!help.empty()) column_->addWidget(make_label(QString::fromStdString(help), "text", this));
}

ShareGuess* QuestionCard::add_kept_share(const Answer& answer, const CardContext& context) {
  auto* drawn = new ShareGuess(*context.colours, part_of_step(answer_path(answer.question)), this);
  drawn->set_value(*answer.guess());
  drawn->set_kept(true);
  column_->addWidget(drawn);
  return drawn;
}

void QuestionCard::add_drawing(const Answer& answer, const CardContext& context) {
  const Question& question = answer.question;
  const std::vector<double>* drawn =
      answer.tries.empty() ? nullptr : std::get_if<std::vector<double>>(&answer.tries.back().attempt);
  const std::size_t count = drawn != nullptr ? drawn->size() : context.series;
  if (count == 0) return;
  const bool by_step = question.answer_from.rfind("steps", 0) == 0;
  auto* sketch = new Sketch(*context.colours, count, question.most, QString::fromStdString(question.unit),
                            by_step ? tr("step") : tr("rank"), this);
  sketch->setAccessibleName(QString::fromStdString(question.ask));
  column_->addWidget(sketch);
  if (drawn != nullptr) sketch->set_values(*drawn);
  if (!answer.accepts_try()) {
    sketch->set_kept(true);
    if (const auto* series = answer.result ? std::get_if<std::vector<double>>(&*answer.result) : nullptr)
      sketch->set_measured(*series, answer.result_source);
    return;
  }
  auto* submit = make_button(tr("Submit drawing"), this);
  submit->setEnabled(drawn != nullptr);
  const auto send = [this, sketch] { emit submitted(sketch->values()); };
  connect(sketch, &Sketch::drawn, submit, [submit] { submit->setEnabled(true); });
  connect(sketch, &Sketch::submitted, this, send);
  connect(submit, &QPushButton::clicked, this, send);
  column_->addWidget(submit);
  input_ = sketch;
}

void QuestionCard::add_box(const Answer& answer, const CardContext& context) {
  const Question& question = answer.question;
  AnswerBox* box = make_answer_box(question, context.chosen, this);
  point_ = qobject_cast<PointBox*>(box);
  QPushButton* submit = make_button(tr("Submit"), this);
  if (auto* number = qobject_cast<NumberBox*>(box); number != nullptr && is_share(question)) {
    auto* drawn = new ShareGuess(*context.colours, part_of_step(answer_path(question)), this);
    drawn->setAccessibleName(QString::fromStdString(question.ask));
    connect(drawn, &ShareGuess::value_changed, number, &NumberBox::set_value);
    connect(number, &AnswerBox::changed, drawn, [number, drawn] {
      const QSignalBlocker quiet(drawn);
      if (const auto value = number->attempt()) drawn->set_value(std::get<double>(*value));
    });
    connect(drawn, &ShareGuess::submitted, submit, &QPushButton::click);
    column_->addWidget(drawn);
  }
  column_->addWidget(box);
  column_->addWidget(submit);
  const auto take = [box, submit] { submit->setEnabled(box->attempt().has_value()); };
  connect(box, &AnswerBox::changed, submit, take);
  connect(box, &AnswerBox::submitted, submit, &QPushButton::click);
  connect(submit, &QPushButton::clicked, this, [this, box] {
    if (const auto attempt = box->attempt()) emit submitted(*attempt);
  });
  take();
  input_ = box->input();
}

void QuestionCard::set_chosen(const Pointed& chosen) {
  if (point_ != nullptr) point_->set_chosen(chosen);
}

void QuestionCard::add_verdict(const Answer& answer, const CardContext& context) {
  const Question& question = answer.question;
  if (is_share(question) && answer.guess())
    add_kept_share(answer, context)->set_measured(answer.result_number(), context.result_source);
  QStringList words;
  if (!question.drawn()) words << tr("You: %1.").arg(attempt_words(question, answer.tries.back().attempt));
  const auto known = known_answer(question);
  if (known && (question.kind == QuestionKind::number || !answer.right()))
    words << (question.formula.empty() ? tr("Right: %1.") : tr("By the formula: %1."))
                 .arg(target_words(question, *known));
  if (const auto result = answer.result_number(); result && !question.drawn())
    words << tr("%1: %2.").arg(answer.result_source, value_text(question, *result));
  if (!words.isEmpty()) column_->addWidget(make_label(words.join(QLatin1Char(' ')), "text", this));
  column_->addWidget(make_label(verdict_words(answer), answer.right() ? "good" : "bad", this));
  add_reason(answer);
}

void QuestionCard::add_reason(const Answer& answer) {
  const Question& question = answer.question;
  if (const auto reply = answer.reply(); !reply->because.empty())
    column_->addWidget(make_label(QString::fromStdString(reply->because), "text", this));
  if (!question.why.empty()) column_->addWidget(make_label(QString::fromStdString(question.why), "dim", this));
  if (answer.of_paths()) add_link(tr("Show these paths"), &QuestionCard::paths_wanted);
  if (question.evidence) add_link(evidence_words(*question.evidence), &QuestionCard::evidence_wanted);
  if (const QString at = answer.tries.back().at.left(10); !at.isEmpty())
    column_->addWidget(make_label(tr("Answered on %1.").arg(at), "dim", this));
  add_link(tr("Answer again"), &QuestionCard::again_wanted);
}

void QuestionCard::add_link(const QString& words, void (QuestionCard::*wanted)()) {
  auto* link = make_link(words, this);
  connect(link, &QPushButton::clicked, this, wanted, Qt::QueuedConnection);
  column_->addWidget(link, 0, Qt::AlignLeft);
}

}  // namespace rankscope::app
