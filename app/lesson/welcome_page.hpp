// SPDX-License-Identifier: GPL-3.0-or-later
// The welcome page, shown when nothing is open: the first lesson, the last session, recordings, runs elsewhere, and
// all lessons by course with the progress.
#pragma once
#include <QScrollArea>

#include "app/lesson/answer_book.hpp"
#include "engine/lesson/lab/course.hpp"

class QComboBox;
class QLineEdit;
class QPushButton;
class QBoxLayout;

namespace rankscope::app {

class WelcomePage : public QScrollArea {
  Q_OBJECT
 public:
  WelcomePage(const Library& library, const AnswerBook& book, QWidget* parent);
  /// What can be continued; an empty name: nothing. Updates the list of answered questions.
  void refresh(const QString& continue_name);
  /// The widget for the keyboard focus: the most common first choice.
  void focus_first();

 signals:
  void lab_wanted(const QString& file);
  void continue_wanted();
  void open_wanted();
  void watch_wanted(const QString& endpoint);
  void manual_wanted();

 private:
  QWidget* make_ways(QWidget* parent);
  QWidget* make_courses(QWidget* parent);
  void list_labs();

  const Library& library_;
  const AnswerBook& book_;
  QPushButton *first_ = nullptr, *continue_ = nullptr;
  QLineEdit* endpoint_ = nullptr;
  QComboBox* courses_ = nullptr;
  QWidget* labs_ = nullptr;
  QBoxLayout* labs_place_ = nullptr;
};

}  // namespace rankscope::app
