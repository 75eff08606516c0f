// SPDX-License-Identifier: GPL-3.0-or-later
// The lesson panel on the left: its text, its questions before the run, and the answers after it.
#pragma once
#include <QScrollArea>
#include <functional>
#include <set>
#include <vector>

#include "app/lesson/answer.hpp"
#include "app/lesson/answer_book.hpp"
#include "app/lesson/class_table.hpp"
#include "app/models/palette.hpp"
#include "app/session/class_room.hpp"
#include "app/session/figures.hpp"
#include "app/session/path_cache.hpp"
#include "app/session/variant_cache.hpp"
#include "engine/lesson/lab/course.hpp"
#include "engine/lesson/lab/experiment.hpp"
#include "engine/lesson/lab/glossary.hpp"

class QBoxLayout;
class QLabel;

namespace rankscope::app {

class QuestionCard;

class LabPanel : public QScrollArea {
  Q_OBJECT
 public:
  /// `room` may be null: then there is no class.
  explicit LabPanel(FiguresModel& figures, ClassRoom* room = nullptr, QWidget* parent = nullptr);
  /// Scrolls with the keys of a page, as a presenter's remote control sends them. False: it is another key.
  bool scroll_by_key(int key);

  /// Null: the scenario has no lesson; `title` and `summary` are still shown.
  void set_lab(const std::optional<Lab>& lab, const QString& title, const QString& summary);
  /// The source of paths for questions about surfaces; null (the default): none.
  void set_paths(PathCache* paths);
  /// The source of predictions of variants; null (the default): none.
  void set_variants(VariantCache* variants);
  /// Changes the selection in the views: the answer to a question of kind point.
  void point(const std::function<void(Pointed&)>& change);
  /// Where answers are saved. Before set_lab; without it they are lost with the panel.
  void set_answer_file(const QString& file);
  const AnswerBook& book() const { return book_; }
  const Library& library() const { return library_; }
  /// An installed lesson, by the title in its scenario; nullopt if there is none.
  std::optional<Lab> lab_titled(const std::string& title) const;
  /// The lesson's; empty if there is none.
  std::string lab_file() const { return lab_ ? lab_->file : std::string(); }
  void set_theme(Theme theme);
  const std::vector<Answer>& answers() const { return answers_; }
  /// `edited`: the plan is not the lesson's, so open answers do not change. `simulated`: the
  /// lesson's machine is not here, so the simulation answers instead of a run. Before set_lab.
  void set_plan(bool edited, bool simulated) {
    edited_ = edited;
    simulated_ = simulated;
  }
  /// A sentence that states how long the results are hidden.
  QString hidden_words() const;
  /// True once results are shown without an answer.
  bool shows_anyway() const { return shows_anyway_; }
  /// The text for a scenario without a lesson; empty: the default (change the plan or run it).
  void set_no_lesson(const QString& words);
  /// The open lesson's name and its questions, with the right answers that this window has: also of questions that
  /// have no answer here. For the teacher.
  std::string lesson_name() const { return lab_name().toStdString(); }
  std::vector<AskedQuestion> asked_questions() const;
  /// The same of any installed lesson; for those that are not open, right answers are known only if
  /// stated.
  std::vector<AskedQuestion> questions_of(const std::string& lesson) const;
  Theme theme() const { return theme_; }
  const Palette& colours() const { return palette_of(theme_); }
  /// Submits an answer to that question, like its button; ignored if no more answers are accepted.
  void keep(std::size_t question, const Attempt& attempt);

 public slots:
  /// Scrolls to the first unanswered question, and gives it the keyboard focus.
  void show_question();
  /// Shows results without an answer, until another lesson is opened.
  void show_anyway();

 signals:
  /// A guess was saved, or a result has arrived: the hidden parts may have changed.
  void answers_changed();
  /// The last answer was submitted: the run is next.
  void all_answered();
  /// Requests to show the paths of an answer.
  void paths_wanted(const PathRequest& request);
  /// Requests to show the evidence for an answer.
  void evidence_wanted(const Evidence& evidence);
  /// A command of the lesson's text was clicked.
  void experiment_wanted(const Experiment& experiment);
  /// A message for the log.
  void log(const QString& text, bool bad);
  /// Requests to open a scenario's file.
  void lab_wanted(const QString& file);
  /// The teacher requests the table of students and answers.
  void class_wanted();

 private:
  void rebuild();
  void fit_width();
  void take_figures();
  /// Its result from a run, a simulation or a path, in its unit; nullopt while unknown.
  std::optional<Target> result_of(const Question& question, const Report* run) const;
  std::optional<Target> value_of(const Question& question, const Report& report, bool simulated) const;
  bool is_asked_about(const Question& question) const;
  /// How `result_of` was obtained: "Run", "Simulation".
  QString source_name(const Answer& answer) const;
  /// The same as a column's name: "emulated".
  QString result_source(const Answer& answer) const;
  void add_lesson();
  void add_way_to_questions();
  void add_text(const std::string& markdown);
  void add_question(std::size_t index);
  void add_next_lab();
  void add_torch();  ///< a link to the plan as a script for PyTorch, if there is one
  void add_class(std::size_t index, QBoxLayout& column, QWidget* card);
  /// In a student's window: the answer to that question, with its current verdict.
  void send_to_teacher(std::size_t question);
  QString waits_for(const Answer& answer) const;
  void submit(std::size_t index, const Attempt& attempt);
  void forget(std::size_t index);
  void store(const Answer& answer);
  /// Whether answers arrive without a run.
  bool answered_by_looking() const;
  void take_class();
  QString lab_name() const;

  FiguresModel& figures_;
  ClassRoom* room_;
  PathCache* paths_ = nullptr;
  VariantCache* variants_ = nullptr;
  std::set<std::size_t> shown_to_class_;              ///< questions whose answers the teacher shows to all
  std::set<std::size_t> sent_to_teacher_;             ///< questions that were answered in this class
  std::vector<std::function<void()>> class_updates_;  ///< of the class data on the cards
  QLabel* class_line_ = nullptr;
  bool was_teaching_ = false;
  const Library library_;
  const Glossary glossary_;
  AnswerBook book_;
  std::optional<Lab> lab_;
  QString title_, summary_, no_lesson_;
  std::vector<Answer> answers_;
  std::vector<QuestionCard*> cards_;
  Pointed pointed_;
  bool edited_ = false, simulated_ = false, shows_anyway_ = false;
  bool waits_for_size_ = false;  ///< a question to be drawn has no axis yet
  std::optional<int> place_;     ///< the panel's later scroll position, while a new page is laid out
  QWidget* page_ = nullptr;
  QWidget* first_question_ = nullptr;  ///< the card of the first one that needs an answer
  QWidget* first_input_ = nullptr;     ///< its answer field
  QBoxLayout* layout_ = nullptr;
  Theme theme_ = Theme::dark;
};

}  // namespace rankscope::app
