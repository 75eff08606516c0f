// SPDX-License-Identifier: GPL-3.0-or-later
// Answer fields: one widget for each kind of question. Each returns its attempt, and signals when it changes
// and when Enter submits it. The drawing kinds are in sketch.hpp and share_guess.hpp.
#pragma once
#include <QWidget>
#include <optional>
#include <vector>

#include "engine/lesson/lab/question.hpp"

class QAbstractButton;
class QButtonGroup;
class QLabel;
class QLineEdit;
class QVBoxLayout;

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

/// A number, or arithmetic such as 100 * 3/11, whose value is shown under it.
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

/// One of a few options. Each is as high as its words.
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

/// Items that are moved up and down until their order is right.
class OrderBox : public AnswerBox {
  Q_OBJECT
 public:
  explicit OrderBox(const Question& question, QWidget* parent);
  std::optional<Attempt> attempt() const override;
  QWidget* input() override;
  /// Moves an item one place up or down.
  void move(std::size_t item, int by);

 private:
  void show_items();

  std::vector<std::string> items_;
  std::vector<QLabel*> words_;
  std::vector<QAbstractButton*> ups_, downs_;
};

/// An op that is clicked in a view.
class PointBox : public AnswerBox {
  Q_OBJECT
 public:
  PointBox(const Question& question, std::optional<PointedOp> chosen, QWidget* parent);
  std::optional<Attempt> attempt() const override;
  QWidget* input() override { return this; }
  void set_chosen(std::optional<PointedOp> chosen);

 private:
  Question question_;
  std::optional<PointedOp> chosen_;
  QLabel* words_;
};

/// Of a kind that is not drawn.
AnswerBox* make_answer_box(const Question& question, std::optional<PointedOp> chosen, QWidget* parent);

}  // namespace rankscope::app
