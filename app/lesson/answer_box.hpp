// SPDX-License-Identifier: GPL-3.0-or-later
// The answer field: one widget for each kind of question. Each gives its attempt, and signals when it changes
// and when Enter submits it. Items in an order are in order_box.hpp, the drawn kinds in drawn_guess.hpp.
#pragma once
#include <QWidget>
#include <optional>
#include <vector>

#include "app/lesson/answer.hpp"

class QButtonGroup;
class QLabel;
class QLineEdit;

namespace rankscope::app {

class AnswerBox : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;
  /// nullopt while there is nothing to submit.
  virtual std::optional<Attempt> attempt() const = 0;
  /// The widget that receives the keyboard focus.
  virtual QWidget* input() = 0;

 signals:
  void changed();
  void submitted();  ///< Enter was pressed
};

/// A number, or arithmetic such as 100 * 3/11, whose value is shown below it.
class NumberBox : public AnswerBox {
  Q_OBJECT
 public:
  explicit NumberBox(const Question& question, QWidget* parent);
  std::optional<Attempt> attempt() const override;
  QWidget* input() override;
  QLineEdit* line() { return line_; }
  void set_value(double value);

 private:
  void take_text();

  QString unit_;
  QLineEdit* line_;
  QLabel* value_;
};

/// One of a few options. Each is as high as its text.
class ChoiceBox : public AnswerBox {
  Q_OBJECT
 public:
  explicit ChoiceBox(const Question& question, QWidget* parent);
  std::optional<Attempt> attempt() const override;
  QWidget* input() override;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  std::vector<std::string> options_;
  QButtonGroup* buttons_;
};

/// An op, a rank or a link that is clicked in a view.
class PointBox : public AnswerBox {
  Q_OBJECT
 public:
  PointBox(const Question& question, const Pointed& chosen, QWidget* parent);
  std::optional<Attempt> attempt() const override { return chosen_; }
  QWidget* input() override { return this; }
  void set_chosen(const Pointed& chosen);

 private:
  Question question_;
  std::optional<Attempt> chosen_;
  QLabel* words_;
};

/// For the kinds that are not drawn.
AnswerBox* make_answer_box(const Question& question, const Pointed& chosen, QWidget* parent);

}  // namespace rankscope::app
