// SPDX-License-Identifier: GPL-3.0-or-later
// "One change away": plans with one change that are faster or smaller; a click applies one.
#pragma once
#include <QWidget>

#include "app/session/adviser.hpp"

class QBoxLayout;

namespace rankscope::app {

class AlternativesList : public QWidget {
  Q_OBJECT
 public:
  explicit AlternativesList(Adviser& adviser, QWidget* parent = nullptr);
  /// Shows nothing: it would answer an open question.
  void set_veil(const QString& until);  ///< like GapStrip's
  /// Whether a click may change the plan.
  void set_editable(bool editable);

 signals:
  void wanted(const rankscope::PlanSpec& plan);
  /// Requests to show the hidden content without an answer.
  void show_anyway_wanted();

 private:
  void rebuild();

  Adviser& adviser_;
  QBoxLayout* column_;
  QWidget* rows_ = nullptr;
  QString veil_;
  bool editable_ = true;
};

/// "step −8.1 %, memory +12 %, bubble 15.8 %", relative to the current plan.
QString words_of(const Alternative& other, const Alternative& now);

}  // namespace rankscope::app
