// SPDX-License-Identifier: GPL-3.0-or-later
// A class and a lesson's questions: who has answered what, as a table for the window and as rows of a file. No widgets.
#pragma once
#include <functional>
#include <vector>

#include "app/lesson/answer.hpp"
#include "app/views/common/rows_model.hpp"
#include "app/views/common/view_table.hpp"
#include "telemetry/classroom/class_register.hpp"

namespace rankscope::app {

/// The result of one student's answers to one question.
enum class AnswerState : std::uint8_t {
  not_yet,
  waits,  ///< a run must show whether it is right
  first,  ///< right at the first try
  second,
  later,  ///< right at a later try: the lesson was answered again
  wrong,
};
/// With a sign before the text: "\u2713 1st try".
QString words_of(AnswerState state);

/// A question of the open lesson, with the right answer if this window has it.
struct AskedQuestion {
  Question question;
  std::optional<Target> truth;
};

/// Whether a try was right: by this window's data, else by the student's; nothing if neither has it.
std::optional<bool> judged(const AskedQuestion& asked, const classroom::Tried& tried);
AnswerState answer_state_of(const AskedQuestion& asked, const classroom::Tries& tries);

/// "student", "question 1", …
QStringList class_titles(const std::vector<AskedQuestion>& questions);
inline constexpr int class_summary_rows = 2;  ///< before the students: the numbers of answers and of right answers
/// The summary, then a row for each student by name, with a cell for each question: its text, and as its help all
/// answers. `lab`: the open lesson's name.
std::vector<std::vector<Cell>> class_rows(std::vector<classroom::Student> students, const std::string& lab,
                                          const std::vector<AskedQuestion>& questions);

/// The last answer of each student to that question.
std::vector<Attempt> last_answers(const std::vector<classroom::Student>& students, const std::string& lab,
                                  int question);

/// All answers to all lessons: a row for each student, question and try. `questions_of`: those of a lesson by its name;
/// none if it is unknown here. Cells that a spreadsheet would execute begin with an apostrophe.
ViewTable class_file(std::vector<classroom::Student> students,
                     const std::function<std::vector<AskedQuestion>(const std::string& lab)>& questions_of);

}  // namespace rankscope::app
