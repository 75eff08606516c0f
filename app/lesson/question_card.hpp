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

/// The data that a card needs besides its answer.
struct CardContext {
  const Palette* colours = nullptr;
  QString number;          ///< "Question 2 of 3"
  QString result_source;   ///< of a share's drawn result: "emulated"
  QString waits_for;       ///< what is needed before an answer is judged: "Press Run to check."
  std::size_t series = 0;  ///< how many values are drawn; 0: not known yet
  Pointed chosen;          ///< what is selected in the views
  bool can_run = false;    ///< a variant that is run can be
};

class QuestionCard : public QFrame {
  Q_OBJECT
 public:
  QuestionCard(const Answer& answer, const CardContext& context, QWidget* parent);
  /// Where the keyboard goes to answer; null where nothing is to be answered.
  QWidget* input() const { return input_; }
  QBoxLayout& column() { return *column_; }
  void set_chosen(const Pointed& chosen);

 signals:
  void submitted(const Attempt& attempt);
  void again_wanted();     ///< the answers are to be forgotten
  void evidence_wanted();  ///< where one sees why
  void paths_wanted();
  void variant_wanted();  ///< the variant is to be run

 private:
  void add_tries(const Answer& answer, const CardContext& context);
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
