// SPDX-License-Identifier: GPL-3.0-or-later
// The main window. It owns the session, the shared state and the views.
#pragma once
#include <QMainWindow>
#include <map>

#include "app/models/finder.hpp"
#include "app/models/navigator.hpp"
#include "app/models/palette.hpp"
#include "app/models/shared_state.hpp"
#include "app/session/class_room.hpp"
#include "app/session/mark_book.hpp"
#include "app/session/session.hpp"
#include "app/session/variant_cache.hpp"
#include "app/shell/choice_palette.hpp"
#include "engine/lesson/lab/experiment.hpp"
#include "engine/lesson/lab/question.hpp"

class QPrinter;
class QAction;
class QMenu;
class QPlainTextEdit;

namespace rankscope::app {

class Banner;
class CompareView;
class ClassWindow;
class ExperimentsView;
class WelcomePage;
class DataView;
class GapStrip;
class HangView;
class LabPanel;
class ViewHistory;
class PathsView;
class PlanPanel;
class ProgramView;
class Presentation;
class ScalingView;
class StatusLine;
class TimelineView;
class TopBar;
struct ViewKind;
class Workspace;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  /// `remember`: read and write layout and recent files through QSettings.
  MainWindow(SessionOptions options, Theme theme, bool remember, QWidget* parent = nullptr);
  ~MainWindow() override;

  Session& session() { return session_; }
  SharedState& state() { return state_; }
  Theme theme() const { return theme_; }
  void set_theme(Theme theme);

  /// Opens a file or an endpoint; errors in the input are shown in the window.
  void open(const QString& text);
  void open(const SourceSpec& spec);
  /// Opens the content of the last session, if it still exists.
  void open_again();
  /// The page with the first lesson, the courses and the ways to a run, over everything else until something is open.
  void show_welcome();
  bool welcomes() const;
  WelcomePage& welcome_page() { return *welcome_; }
  /// A recording to compare with the run, in the compare view.
  void compare_with(const QString& trace);

  /// Optimizers' paths on that surface, in front.
  void show_paths(const PathRequest& request);

  /// The widget of a view by its name in view_names(), made visible; null for none of them.
  QWidget* view_named(const QString& name);
  /// Shows that view alone, as large as the window.
  void show_alone(const QString& name);
  /// The same for the last row of a class: no letter of a view, the lesson or the plan below 24 px.
  void present(const QString& name);
  void stop_presenting();
  bool presenting() const { return presented_ != nullptr; }
  /// Writes that view, or the complete window if `view` is empty, as .png, .svg or .csv. Returns the error, one line;
  /// empty: none.
  QString save(const QString& view, const QString& file);
  /// Draws the active view on a page, as large as possible, in ink on white.
  void print_on(QPrinter& printer);
  /// The view with the user's last action; the time line before that.
  DataView* active_view() const;
  QString name_of(const QWidget* view) const;
  /// No computation is running that would change the picture.
  bool settled() const;

  MarkBook& marks() { return marks_; }
  ClassRoom& class_room() { return room_; }
  /// Opens a class, or joins one; errors are shown in the log. Empty: no error.
  QString teach(const QString& join_file, const QString& address);
  QString attend(const QString& join_file, const QString& name);
  /// The teacher's: the table of students and answers, in its own window.
  ClassWindow& show_class();
  /// The CSV file to which all answers of the class are written, until it ends.
  void keep_answers(const QString& file);
  LabPanel& lab_panel() { return *lab_; }
  PlanPanel& plan_panel() { return *plan_; }
  Workspace& workspace() { return *workspace_; }
  StatusLine& status_line() { return *status_; }
  TopBar& top_bar() { return *top_; }
  Banner& banner() { return *banner_; }
  QString log_text() const;

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void make_actions();
  void make_class_actions(QMenu* menu);
  QString try_joining(const std::function<void()>& join);  ///< teach() or attend()
  void make_find_actions(QMenu* menu);  ///< find, copy, print, the manual and About
  QAction* make_language_actions();
  void make_undo_actions(QMenu* menu);
  void make_mark_actions(QMenu* menu);
  void make_lesson_actions();
  void make_welcome();
  void set_welcome(bool shown);
  QString last_source_name() const;  ///< empty: nothing was open before
  void show_evidence(const Evidence& evidence);
  void try_experiment(const Experiment& experiment);
  /// Trains the open scenario with the order of a puzzle.
  void run_order(const std::vector<std::string>& settings, const QString& name);
  void try_plan(const std::vector<std::string>& settings, const QString& name, bool run);
  void run_once_predicted();
  void make_layout();
  void add_view(const ViewKind& kind, DataView* view);
  QWidget* find_view(const QString& name) const;
  void show_rest(bool shown);  ///< the parts around a view
  void notice_active(QWidget* widget);
  void save_dialog(const QString& view, const QString& title);
  QAction* add_action(const QString& name, const QKeySequence& key, const std::function<void()>& run,
                      const QString& help = {});
  void make_opening();
  void take_state();
  void take_opening();
  void take_run_end();
  void take_contact();
  void take_class();
  void write_answers();
  void take_empty_words();
  QString opening_words() const;
  void show_not_opened(const QString& name, const QString& why, const SourceSpec& again);
  void remember_source() const;
  void take_shown();
  void take_lab();
  void take_no_lesson();
  bool too_large() const;  ///< the open scenario: it is only simulated
  /// Why Run is disabled, as a sentence; empty: it is enabled.
  QString cannot_run_words() const;
  void take_answers();
  void add_log(const QString& text, bool bad);
  void add_recent(const SourceSpec& spec);
  void fill_recent();
  void open_dialog();
  void show_palette();
  void show_choices(const QString& name, const QString& placeholder,
                    std::function<Choices(const QString&)> choices_for);
  Choices choices_for(const QString& query);
  Choices marks_for(const QString& query);
  void go_to(const Found& found);
  void go_to(const TraceMark& mark);
  void mark_now();
  void edit_mark(const TraceMark& place);  ///< requests the note; a mark of that place is changed
  void put_mark(const TraceMark& old, const std::optional<TraceMark>& mark);
  void print_view();
  void show_help();
  QAction* add_panel_action(QWidget* panel, const QString& name, const QKeySequence& key);
  QList<QAction*> make_layout_actions();
  QList<QAction*> make_view_actions();
  void restore_layout();  ///< the saved one if it fits this screen, else a new one
  void save_layout() const;
  bool press_escape();  ///< true: it was for the layout

  Theme theme_;
  bool remember_;
  SharedState state_;
  Session session_;
  MarkBook marks_{session_};
  ClassRoom room_{state_, session_};
  Navigator navigator_;
  VariantCache variants_;
  QAction *run_ = nullptr, *stop_ = nullptr, *palette_ = nullptr, *help_ = nullptr;
  QAction *save_ = nullptr, *present_ = nullptr;
  QList<QAction*> commands_;
  QMenu *menu_ = nullptr, *recent_ = nullptr;
  QWidget* centre_ = nullptr;
  TopBar* top_ = nullptr;
  Banner* banner_ = nullptr;
  QTimer waiting_;                          ///< ticks while it connects to an endpoint
  std::pair<QString, QString> not_opened_;  ///< the last source that could not be opened, and why
  LabPanel* lab_ = nullptr;
  PlanPanel* plan_ = nullptr;
  GapStrip* gap_ = nullptr;
  StatusLine* status_ = nullptr;
  TimelineView* timeline_ = nullptr;
  HangView* hang_ = nullptr;
  CompareView* compare_ = nullptr;
  ExperimentsView* experiments_ = nullptr;
  WelcomePage* welcome_ = nullptr;
  QString lesson_trouble_;  ///< why the lesson of the open scenario cannot be read; empty: it can
  ViewHistory* history_ = nullptr;
  ScalingView* scaling_ = nullptr;
  PathsView* paths_ = nullptr;
  ProgramView* program_ = nullptr;
  Workspace* workspace_ = nullptr;
  ClassWindow* class_window_ = nullptr;
  QString answers_file_;  ///< of the current class; empty: none
  QTimer answers_soon_;   ///< until it is written again
  QPlainTextEdit* log_ = nullptr;
  std::map<QString, DataView*> views_;
  DataView* active_ = nullptr;
  Presentation* presentation_ = nullptr;  ///< from the first presentation on
  QWidget* presented_ = nullptr;
  bool lesson_used_ = false;  ///< after the active view
};

}  // namespace rankscope::app
