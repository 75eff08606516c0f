// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/class_table.hpp"

#include <QCoreApplication>
#include <algorithm>

#include "app/views/common/text.hpp"
#include "engine/lesson/lab/attempt_text.hpp"
#include "engine/lesson/lab/translation.hpp"

namespace rankscope::app {
namespace {

using classroom::Student;
using classroom::Tried;
using classroom::Tries;

QString in_table(const char* text) { return QCoreApplication::translate("Class", text); }

void sort_by_name(std::vector<Student>& students) {
  std::sort(students.begin(), students.end(), [](const Student& a, const Student& b) {
    const QString first = QString::fromStdString(a.name), second = QString::fromStdString(b.name);
    const int order = QString::localeAwareCompare(first.toCaseFolded(), second.toCaseFolded());
    return order != 0 ? order < 0 : a.name < b.name;
  });
}

const Tries* tries_of(const Student& student, const std::string& lab, int question) {
  const auto found = student.answers.find({lab, question});
  return found == student.answers.end() || found->second.empty() ? nullptr : &found->second;
}

/// Complete, also for a drawing: its values one after the other.
QString whole_words(const Question& question, const Attempt& attempt) {
  const auto* drawn = std::get_if<std::vector<double>>(&attempt);
  if (drawn == nullptr) return attempt_words(question, attempt);
  QStringList values;
  for (const double value : *drawn) values << QString::number(value, 'g', 4);
  constexpr qsizetype most = 24;
  const qsizetype count = values.size();
  if (count > most) values = values.mid(0, most) << QStringLiteral("\u2026");
  const QString unit = question.unit.empty() ? QString() : QChar(0xA0) + QString::fromStdString(question.unit);
  return values.join(QStringLiteral(", ")) + unit;
}

QString verdict_word(std::optional<bool> right) {
  return !right ? in_table("not judged yet") : *right ? in_table("right") : in_table("wrong");
}

QString help_of(const AskedQuestion& asked, const Tries& tries) {
  QStringList lines;
  for (std::size_t i = 0; i < tries.size(); ++i) {
    QString line = in_table("Try %1: %2 (%3)")
                       .arg(i + 1)
                       .arg(whole_words(asked.question, from_original(asked.question, tries[i].attempt)),
                            verdict_word(judged(asked, tries[i])));
    if (!tries[i].at.empty()) line += in_table(", %1").arg(QString::fromStdString(tries[i].at));
    lines << line;
  }
  // Text from others is shown unchanged, including tags.
  return QStringLiteral("<qt>") +
         lines.join(QLatin1Char('\n')).toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>"));
}

Tone tone_of(AnswerState state) {
  switch (state) {
    case AnswerState::first:
    case AnswerState::second:
    case AnswerState::later: return Tone::good;
    case AnswerState::wrong: return Tone::bad;
    case AnswerState::waits: return Tone::text;
    case AnswerState::not_yet: return Tone::dim;
  }
  return Tone::text;
}

/// Text that a spreadsheet would read as a formula gets an apostrophe: names and answers are from others. Not numbers.
QString inert(const QString& cell) {
  const QString shown = cell.trimmed();
  bool number = false;
  shown.toDouble(&number);
  static const QString starts = QStringLiteral("=+-@\uFF1D\uFF0B\uFF0D\uFF20");
  return !number && !shown.isEmpty() && starts.contains(shown.front()) ? QLatin1Char('\'') + cell : cell;
}

/// An answer for a file: a number alone, a drawing's values with blanks between.
QString file_words(const Question& question, const Attempt& attempt) {
  if (const auto* number = std::get_if<double>(&attempt)) return plain(*number);
  const auto* drawn = std::get_if<std::vector<double>>(&attempt);
  if (drawn == nullptr) return attempt_words(question, attempt);
  QStringList values;
  for (const double value : *drawn) values << plain(value);
  return values.join(QLatin1Char(' '));
}

bool is_right(AnswerState state) {
  return state == AnswerState::first || state == AnswerState::second || state == AnswerState::later;
}

}  // namespace

QString words_of(AnswerState state) {
  switch (state) {
    case AnswerState::not_yet: return QStringLiteral("\u00B7 ") + in_table("not yet");
    case AnswerState::waits: return QStringLiteral("? ") + in_table("waits for a run");
    case AnswerState::first: return QStringLiteral("\u2713 ") + in_table("1st try");
    case AnswerState::second: return QStringLiteral("\u2713 ") + in_table("2nd try");
    case AnswerState::later: return QStringLiteral("\u2713 ") + in_table("later");
    case AnswerState::wrong: return QStringLiteral("\u2717 ") + in_table("wrong");
  }
  return {};
}

// If the lesson states the right answer, a different verdict of a student's window is ignored.
std::optional<bool> judged(const AskedQuestion& asked, const Tried& tried) {
  const Attempt attempt = from_original(asked.question, tried.attempt);  // messages contain the original's text
  if (!fits(asked.question, attempt)) return false;
  if (const auto known = known_answer(asked.question)) return judge(asked.question, attempt, *known).accepted();
  if (tried.verdict != classroom::Verdict::open) return tried.verdict == classroom::Verdict::right;
  if (asked.truth) return judge(asked.question, attempt, *asked.truth).accepted();
  return std::nullopt;
}

AnswerState answer_state_of(const AskedQuestion& asked, const Tries& tries) {
  if (tries.empty()) return AnswerState::not_yet;
  for (std::size_t i = 0; i < tries.size(); ++i)
    if (judged(asked, tries[i]) == true)
      return i == 0 ? AnswerState::first : i == 1 ? AnswerState::second : AnswerState::later;
  return judged(asked, tries.back()) ? AnswerState::wrong : AnswerState::waits;
}

QStringList class_titles(const std::vector<AskedQuestion>& questions) {
  QStringList titles{in_table("student")};
  for (std::size_t i = 0; i < questions.size(); ++i) titles << in_table("question %1").arg(i + 1);
  return titles;
}

std::vector<std::vector<Cell>> class_rows(std::vector<Student> students, const std::string& lab,
                                          const std::vector<AskedQuestion>& questions) {
  sort_by_name(students);
  std::vector<std::vector<Cell>> rows(class_summary_rows);
  rows[0].push_back({in_table("answered"), Tone::text, {}});
  rows[1].push_back({in_table("right"), Tone::text, {}});
  std::vector<int> answered(questions.size()), judged(questions.size()), right(questions.size());
  for (const Student& student : students) {
    std::vector<Cell>& row = rows.emplace_back();
    row.push_back({QString::fromStdString(student.name), student.here ? Tone::text : Tone::dim,
                   student.here ? QString() : in_table("not here now")});
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const Tries* tries = tries_of(student, lab, static_cast<int>(i));
      const AnswerState state = tries != nullptr ? answer_state_of(questions[i], *tries) : AnswerState::not_yet;
      answered[i] += tries != nullptr;
      judged[i] += tries != nullptr && state != AnswerState::waits;
      right[i] += is_right(state);
      row.push_back({words_of(state), tone_of(state), tries != nullptr ? help_of(questions[i], *tries) : QString()});
    }
  }
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const QString ask = QString::fromStdString(questions[i].question.ask);
    rows[0].push_back({in_table("%1 of %2").arg(answered[i]).arg(students.size()), Tone::text, ask});
    // An answer that waits for a run is neither right nor wrong.
    rows[1].push_back(
        {judged[i] == 0 ? text::unknown() : in_table("%1 of %2").arg(right[i]).arg(judged[i]), Tone::text, ask});
  }
  return rows;
}

std::vector<Attempt> last_answers(const std::vector<Student>& students, const std::string& lab, int question) {
  std::vector<Attempt> answers;
  for (const Student& student : students)
    if (const Tries* tries = tries_of(student, lab, question)) answers.push_back(tries->back().attempt);
  return answers;
}

ViewTable class_file(std::vector<Student> students,
                     const std::function<std::vector<AskedQuestion>(const std::string&)>& questions_of) {
  sort_by_name(students);
  ViewTable table{
      {in_table("name"), in_table("lesson"), in_table("question"), in_table("words of the question"), in_table("kind"),
       in_table("answer"), in_table("unit"), in_table("verdict"), in_table("try"), in_table("time")},
      {}};
  for (const Student& student : students)
    for (const auto& [place, tries] : student.answers) {
      const auto& [lab, index] = place;
      const std::vector<AskedQuestion> known = questions_of(lab);
      const bool is_known = index < std::ssize(known);
      for (std::size_t i = 0; i < tries.size(); ++i) {
        AskedQuestion asked;
        if (is_known) asked = known[static_cast<std::size_t>(index)];
        const QuestionKind kind = kind_of(tries[i].attempt);
        // For a lesson that is not here, only the student's window has the verdict.
        std::optional<bool> right;
        if (is_known)
          right = judged(asked, tries[i]);
        else if (tries[i].verdict != classroom::Verdict::open)
          right = tries[i].verdict == classroom::Verdict::right;
        const std::string_view kind_name = name_of(kind);
        QStringList row{QString::fromStdString(student.name),
                        QString::fromStdString(lab),
                        QString::number(index + 1),
                        QString::fromStdString(asked.question.ask),
                        QString::fromUtf8(kind_name.data(), static_cast<qsizetype>(kind_name.size())),
                        file_words(asked.question, from_original(asked.question, tries[i].attempt)),
                        QString::fromStdString(asked.question.unit),
                        verdict_word(right),
                        QString::number(i + 1),
                        QString::fromStdString(tries[i].at)};
        for (QString& cell : row) cell = inert(cell);
        table.rows.push_back(row);
      }
    }
  return table;
}

}  // namespace rankscope::app
