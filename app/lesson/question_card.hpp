// SPDX-License-Identifier: GPL-3.0-or-later
// One question of a lesson as a card: the question, the answer field, and the feedback. Created again whenever
// its answer changes.
#pragma once
#include <QFrame>

#include "app/lesson/answer.hpp"
#include "app/models/palette.hpp"

class QBoxLayout;

namespace rankscope::app {

class PointBox;
class ShareGuess;

/// The data that a card needs besides its answer.
struct CardContext {
  const Palette* colours = nullptr;
  QString number;          ///< "Question 2 of 3"
  QString result_source;   ///< of a share's drawn result: "emulated"
  QString waits_for;       ///< the condition for the judgement of an answer: "Press Run to check."
  std::size_t series = 0;  ///< number of values to draw; 0: unknown yet
  Pointed chosen;          ///< the selection in the views
  bool can_run = false;    ///< a variant to run can be run
};

class QuestionCard : public QFrame {
  Q_OBJECT
 public:
  QuestionCard(const Answer& answer, const CardContext& context, QWidget* parent);
  /// The widget for the keyboard focus; null if nothing can be answered.
  QWidget* input() const { return input_; }
  QBoxLayout& column() { return *column_; }
  void set_chosen(const Pointed& chosen);

 signals:
  void submitted(const Attempt& attempt);
  void again_wanted();     ///< request to delete the answers
  void evidence_wanted();  ///< request to show the evidence
  void paths_wanted();
  void variant_wanted();  ///< request to run the variant

 private:
  void add_tries(const Answer& answer, const CardContext& context);
  ShareGuess* add_kept_share(const Answer& answer, const CardContext& context);
  void add_drawing(const Answer& answer, const CardContext& context);
  void add_box(const Answer& answer, const CardContext& context);
  void add_verdict(const Answer& answer, const CardContext& context);
  void add_reason(const Answer& answer);
  void add_link(const QString& words, void (QuestionCard::*wanted)());

  QBoxLayout* column_;
  QWidget* input_ = nullptr;
  PointBox* point_ = nullptr;
};

}  // namespace rankscope::app
