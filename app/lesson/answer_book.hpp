// SPDX-License-Identifier: GPL-3.0-or-later
// A person's answers to all lessons, kept in one JSON file: each try with its time, and what was told. It is read when
// made, and written at every change; a file that cannot be read is set aside, not overwritten.
#pragma once
#include <QJsonObject>
#include <QString>

#include "app/lesson/answer.hpp"

namespace rankscope::app {

class AnswerBook {
 public:
  /// Empty `file`: answers are kept only as long as the book.
  explicit AnswerBook(QString file = {});

  /// Puts what was kept into an answer of that lab: found by its words, so that a question that was changed is new.
  void fill(const QString& lab, Answer& answer) const;
  /// Keeps it; one without tries is forgotten. What went wrong, in one line; empty: nothing did.
  QString keep(const QString& lab, const Answer& answer);
  /// How many questions of this lab have an answer that is right, or no try left.
  std::size_t answered(const Lab& lab) const;
  /// What was wrong with the file when it was read; empty: nothing was.
  const QString& trouble() const { return trouble_; }

 private:
  QString file_, trouble_;
  QJsonObject labs_;  ///< by lab's name, then by the question's words
};

}  // namespace rankscope::app
