// SPDX-License-Identifier: GPL-3.0-or-later
// The window's actions, menu, files and layout.
#include <QAction>
#include <QActionGroup>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMenu>
#include <QMimeData>
#include <QSettings>

#include "app/lesson/lab_panel.hpp"
#include "app/models/translated.hpp"
#include "app/shell/banner.hpp"
#include "app/shell/command_palette.hpp"
#include "app/shell/main_window.hpp"
#include "app/shell/plan_panel.hpp"
#include "app/shell/top_bar.hpp"
#include "app/shell/view_history.hpp"
#include "app/shell/workspace.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/language.hpp"
#include "app/views/timeline/timeline_view.hpp"
#include "engine/plan/scenario/resources.hpp"

namespace rankscope::app {
namespace {

const QString language_subject = QStringLiteral("language");

}  // namespace

QAction* MainWindow::add_action(const QString& name, const QKeySequence& key, const std::function<void()>& run,
                                const QString& help) {
  auto* action = new QAction(name, this);
  if (!key.isEmpty()) action->setShortcut(key);
  if (!help.isEmpty()) action->setToolTip(help);
  connect(action, &QAction::triggered, this, run);
  addAction(action);
  commands_.append(action);
  return action;
}

void MainWindow::make_actions() {
  QAction* open = add_action(tr("Open a scenario or a recording…"), QKeySequence::Open, [this] { open_dialog(); });
  QAction* welcome = add_action(tr("Welcome page: lessons and courses"), {}, [this] { show_welcome(); });
  run_ = add_action(tr("Run"), Qt::CTRL | Qt::Key_R, [this] { session_.run(); });
  stop_ = add_action(tr("Stop"), Qt::CTRL | Qt::Key_Period, [this] { session_.stop(); });
  QAction* opened = add_action(tr("Open latest recording"), {}, [this] {
    const QString file = session_.recording();
    if (!file.isEmpty() && session_.spec().kind == SourceKind::scenario) MainWindow::open(file);
  });
  connect(&session_, &Session::state_changed, opened, [this, opened] {
    opened->setEnabled(session_.spec().kind == SourceKind::scenario && session_.state() == SessionState::ended &&
                       QFileInfo::exists(session_.recording()));
  });
  opened->setEnabled(false);
  QAction* follow =
      add_action(tr("Follow the run"), Qt::CTRL | Qt::Key_L, [this] { state_.set_follow(Follow::last_step); });
  save_ = add_action(tr("Export this view…"), QKeySequence::Save, [this] {
    const DataView* view = active_view();
    save_dialog(name_of(view), view->accessibleName());
  });
  QAction* picture = add_action(tr("Save a picture of the window…"), Qt::CTRL | Qt::Key_P,
                                [this] { save_dialog({}, tr("the whole window")); });
  present_ = add_action(tr("Present this view"), Qt::Key_F11, [this] {
    if (presenting())
      stop_presenting();
    else
      present(lesson_used_ ? QStringLiteral("lab") : name_of(active_view()));
  });
  QAction* lesson = add_action(tr("Present the lesson"), {}, [this] { present(QStringLiteral("lab")); });
  QAction* theme = add_action(tr("Switch theme: dark, light, high contrast"), Qt::CTRL | Qt::Key_T, [this] {
    const auto next = (static_cast<std::size_t>(theme_) + 1) % every_theme.size();
    set_theme(every_theme[next]);
    if (remember_) QSettings().setValue(QStringLiteral("theme"), QString::fromUtf8(rankscope::name_of(theme_).data()));
  });
  QAction* language = make_language_actions();
  palette_ = add_action(
      tr("Command palette"), Qt::CTRL | Qt::Key_K, [this] { show_palette(); }, tr("Command palette (Ctrl+K)"));
  help_ = add_action(
      tr("Keyboard shortcuts"), Qt::Key_Question, [this] { show_help(); }, tr("Keyboard shortcuts (?)"));
  const QList<QAction*> views = make_view_actions();
  const QList<QAction*> arrange = make_layout_actions();
  QList<QAction*> groupings;
  for (const Grouping grouping : every_grouping)
    groupings << add_action(QString::fromStdString(translated(words_of(grouping))), {},
                            [this, grouping] { timeline_->set_grouping(grouping); });
  for (const auto& lab : resource_files("labs")) {
    const QString file = QString::fromStdString(lab.string());
    add_action(tr("Open lab: %1").arg(QFileInfo(file).completeBaseName()), {},
               [this, file] { MainWindow::open(file); });
  }
  QAction* quit = add_action(tr("Quit"), QKeySequence::Quit, [this] { close(); });

  menu_ = new QMenu(this);
  menu_->addAction(welcome);
  menu_->addAction(open);
  recent_ = menu_->addMenu(tr("Open recent"));
  connect(recent_, &QMenu::aboutToShow, this, &MainWindow::fill_recent);
  menu_->addAction(opened);
  menu_->addSeparator();
  for (QAction* action : {run_, stop_, follow}) menu_->addAction(action);
  menu_->addSeparator();
  QMenu* view = menu_->addMenu(tr("View"));
  view->addActions(views);
  view->addSeparator();
  view->addActions(arrange);
  view->addSeparator();
  view->addActions(groupings);
  for (QAction* action : {save_, picture, present_, lesson, theme, language, palette_, help_}) menu_->addAction(action);
  menu_->addSeparator();
  make_undo_actions(menu_);
  make_mark_actions(menu_);
  make_find_actions(menu_);
  make_class_actions(menu_->addMenu(tr("Class")));
  menu_->addSeparator();
  menu_->addAction(quit);
  top_->set_menu(menu_);
  top_->set_actions(run_, stop_, palette_, help_);
}

// A window's texts are made with it, so another language is used for the next one.
QAction* MainWindow::make_language_actions() {
  auto* menu = new QMenu(tr("Language"), this);
  auto* group = new QActionGroup(menu);
  for (const QString& code : window_languages()) {
    QAction* action = menu->addAction(language_name(code), this, [this, code] {
      if (remember_) choose_language(code);
      if (code == window_language()) return banner_->clear(language_subject);
      banner_->show_message(language_subject, BannerKind::info,
                            tr("The window is in %1 when Rankscope is started again.").arg(language_name(code)));
    });
    action->setCheckable(true);
    action->setChecked(code == window_language());
    group->addAction(action);
  }
  return menu->menuAction();
}

QList<QAction*> MainWindow::make_view_actions() {
  QList<QAction*> views;
  int number = 1;
  for (QWidget* view : workspace_->tabs()) {
    QAction* action = add_action(tr("Show %1").arg(workspace_->title_of(view)), {}, [this, view] {
      if (presenting()) return present(name_of(view));
      workspace_->bring(view);
      active_ = dynamic_cast<DataView*>(view);
      lesson_used_ = false;
    });
    if (number <= 10) action->setShortcut(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_0 + number++ % 10));
    views << action;
  }
  return views;
}

void MainWindow::make_undo_actions(QMenu* menu) {
  history_ = new ViewHistory(state_, session_,
                             {[this] { return to_bytes(workspace_->arrangement(), {}); },
                              [this](const QByteArray& layout) {
                                if (const auto arrangement = from_bytes(layout, {}))
                                  workspace_->set_arrangement(*arrangement);
                              }},
                             400, this);
  QAction* undo = add_action(tr("Undo"), QKeySequence::Undo, [this] { history_->undo(); });
  QAction* redo = add_action(tr("Redo"), QKeySequence::Redo, [this] { history_->redo(); });
  const auto take = [this, undo, redo] {
    const QString what = history_->undo_words();
    undo->setText(what.isEmpty() ? tr("Undo") : tr("Undo %1").arg(what));
    undo->setEnabled(history_->can_undo());
    redo->setEnabled(history_->can_redo());
  };
  connect(history_, &ViewHistory::changed, this, take);
  take();
  connect(workspace_, &Workspace::arranged, history_, &ViewHistory::note_layout);
  menu->addAction(undo);
  menu->addAction(redo);
}

void MainWindow::show_palette() {
  auto* palette = new CommandPalette(commands_, this);
  palette->move(mapToGlobal(QPoint((width() - palette->width()) / 2, 64)));
  palette->show();
}

void MainWindow::show_help() { (new HelpSheet(commands_, this))->show(); }

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.size() == 1 && urls.front().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) { open(event->mimeData()->urls().front().toLocalFile()); }

}  // namespace rankscope::app
