// SPDX-License-Identifier: GPL-3.0-or-later
// A student's answers to all lessons, saved in one JSON file: each try with its time, and the result. It is read at
// construction, and written at every change; an unreadable file is renamed, not overwritten.
#pragma once
#include <QJsonObject>
#include <QString>

#include "app/lesson/answer.hpp"

namespace rankscope::app {

class AnswerBook {
 public:
  /// Empty `file`: answers are kept only in this object.
  explicit AnswerBook(QString file = {});

  /// Restores a saved answer of that lab: found by the question's text, so that a changed question is new.
  void fill(const QString& lab, Answer& answer) const;
  /// Saves it; an answer without tries is removed. Returns the error in one line; empty: none.
  QString keep(const QString& lab, const Answer& answer);
  /// The number of questions of this lab with a right answer, or no try left.
  std::size_t answered(const Lab& lab) const;
  /// The error when the file was read; empty: none.
  const QString& trouble() const { return trouble_; }

 private:
  QString file_, trouble_;
  QJsonObject labs_;  ///< by lab's name, then by the question's text
};

}  // namespace rankscope::app
