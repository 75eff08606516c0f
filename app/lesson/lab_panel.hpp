// SPDX-License-Identifier: GPL-3.0-or-later
// The lesson at the left: its text, its questions before the run, and the answers after it.
#pragma once
#include <QScrollArea>
#include <QVBoxLayout>
#include <functional>
#include <set>
#include <vector>

#include "app/models/palette.hpp"
#include "app/session/class_room.hpp"
#include "app/session/figures.hpp"
#include "app/session/path_cache.hpp"
#include "app/lesson/answer.hpp"

class QLabel;
class QTextBrowser;

namespace rankscope::app {

class LabPanel : public QScrollArea {
  Q_OBJECT
 public:
  /// `room` may be null: then there is no class.
  explicit LabPanel(FiguresModel& figures, ClassRoom* room = nullptr, QWidget* parent = nullptr);

  /// Null: the scenario is no lesson; `title` and `summary` are shown all the same.
  void set_lab(const std::optional<Lab>& lab, const QString& title, const QString& summary);
  /// Who answers questions about surfaces; null (as at first): nobody does.
  void set_paths(PathCache* paths);
  /// Of those installed; nullopt where there is none.
  std::optional<Lab> lab_titled(const std::string& title) const;
  /// The lesson's; empty where there is none.
  std::string lab_file() const { return lab_ ? lab_->file : std::string(); }
  void set_theme(Theme theme);
  const std::vector<Answer>& answers() const { return answers_; }
  /// `edited`: the plan is another than the lesson's, so answers that are open stay as they are. `simulated`: the
  /// lesson's machine is not here, so that the simulation answers and not a run. Before set_lab.
  void set_plan(bool edited, bool simulated) {
    edited_ = edited;
    simulated_ = simulated;
  }
  /// Until when what the questions ask for is hidden: a sentence.
  QString hidden_words() const;
  /// True once results are to be seen without an answer.
  bool shows_anyway() const { return shows_anyway_; }
  /// What a scenario without a lesson says; empty: that one may change the plan or run it.
  void set_no_lesson(const QString& words);
  /// Keeps the guess of that question, as its button does.
  void keep_guess(std::size_t question, double guess);
  /// The same of a drawn question.
  void keep_drawing(std::size_t question, const std::vector<double>& values);

 public slots:
  /// Scrolls to the first question that has no answer yet, and puts the keyboard there.
  void show_question();
  /// Results are to be seen without an answer, until another lesson is opened.
  void show_anyway();

 signals:
  /// A guess was kept, or an answer has come: what is hidden may be another.
  void answers_changed();
  /// The last answer was submitted: what follows is the run.
  void all_answered();
  /// The paths behind an answer are to be looked at.
  void paths_wanted(const PathRequest& request);
  /// A scenario's file was asked for.
  void lab_wanted(const QString& file);

 private:
  void rebuild();
  void fit_width();
  void take_figures();
  /// What answers it, in its unit; of a drawn one its series is filled in.
  std::optional<double> told_of(Answer& answer, const Report* told) const;
  void add_lesson();
  void add_way_to_questions();
  void add_text(const QString& markdown);
  void add_question(std::size_t index);
  void add_next_lab();
  void add_class(std::size_t index, QVBoxLayout& column, QWidget* card);
  /// How an answer was obtained: measured, emulated, simulated, or of a surface computed.
  QString told_by(const Answer& answer) const;
  /// The same for a sentence: "Run", "Simulation".
  QString source_name(const Answer& answer) const;
  QString kept_words(const Answer& answer) const;
  void add_verdict(const Answer& answer, QVBoxLayout& column, QWidget* card);
  void submit(const std::function<void()>& keep);
  /// Whether answers come without a run.
  bool answered_by_looking() const;
  void add_drawn(const Answer& answer, QVBoxLayout& column, QWidget* card);
  void add_sketch(std::size_t index, QVBoxLayout& column, QWidget* card);
  void add_guess(std::size_t index, QVBoxLayout& column, QWidget* card);
  void take_class();
  QString lab_name() const;

  FiguresModel& figures_;
  ClassRoom* room_;
  PathCache* paths_ = nullptr;
  std::set<std::size_t> told_to_class_;               ///< questions whose answers the teacher shows to all
  std::vector<std::function<void()>> class_updates_;  ///< of what the cards say of the class
  QLabel* class_line_ = nullptr;
  bool was_teaching_ = false;
  const std::vector<Lab> labs_;  ///< all that are installed
  std::optional<Lab> lab_;
  QString title_, summary_, no_lesson_;
  std::vector<Answer> answers_;
  bool edited_ = false, simulated_ = false, shows_anyway_ = false;
  bool waits_for_size_ = false;  ///< a question to be drawn has no axis yet
  std::optional<int> place_;     ///< where the panel will be scrolled to, while a new page is laid out
  QWidget* page_ = nullptr;
  QWidget* first_question_ = nullptr;  ///< the card of the first that has no answer yet
  QWidget* first_input_ = nullptr;     ///< where that one is answered
  QVBoxLayout* layout_ = nullptr;
  QTextBrowser* text_ = nullptr;
  const Palette* colours_;
};

}  // namespace rankscope::app
