// SPDX-License-Identifier: GPL-3.0-or-later
// The teacher's window of a class: the table of students and answers, the distribution of the answers to one question,
// and a file with all of it.
#pragma once
#include <QTimer>
#include <QWidget>

#include "app/session/class_room.hpp"

class QCheckBox;
class QComboBox;
class QLabel;

namespace rankscope::app {

class AnswersPlot;
class LabPanel;
class RowsModel;
class RowsTable;

/// Writes all answers of the class as CSV, all or nothing. Empty: it was written; else the reason in one line.
QString save_answers(const ClassRoom& room, const LabPanel& lesson, const QString& file);

class ClassWindow : public QWidget {
  Q_OBJECT
 public:
  /// Always for the open lesson of `lesson`.
  ClassWindow(const ClassRoom& room, const LabPanel& lesson, QWidget* parent);
  const RowsModel& table() const;
  AnswersPlot& plot() { return *plot_; }
  /// The question whose answers are shown below the table; from 0.
  void show_question(int question);
  void set_marked(bool marked);  ///< the right answer, in the picture
  void refresh();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void show_answers();
  void fill_questions();
  void export_answers();

  const ClassRoom& room_;
  const LabPanel& lesson_;
  QLabel *heading_, *trouble_;
  RowsTable* table_;
  QComboBox* question_;
  AnswersPlot* plot_;
  QLabel* words_;
  QCheckBox* marked_;
  QTimer soon_;
};

}  // namespace rankscope::app
