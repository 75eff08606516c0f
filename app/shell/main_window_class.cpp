// SPDX-License-Identifier: GPL-3.0-or-later
// The window in a class: teaching, joining, and following the teacher.
#include <QAction>
#include <QFileDialog>
#include <QInputDialog>
#include <QMenu>
#include <QPlainTextEdit>

#include "app/lesson/class_window.hpp"
#include "app/lesson/lab_panel.hpp"
#include "app/shell/main_window.hpp"
#include "app/shell/workspace.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/parts.hpp"
#include "engine/plan/scenario/resources.hpp"
#include "telemetry/stream/join.hpp"

namespace rankscope::app {
namespace {

constexpr int keep_interval_ms = 2000;  ///< between two writes of a class's answers

}  // namespace

void MainWindow::make_class_actions(QMenu* menu) {
  const auto ask_file = [this](const QString& address) {
    const QString file = QFileDialog::getSaveFileName(this, tr("Write the file that students join with"),
                                                      QStringLiteral("class.join"), tr("Join files (*.join)"));
    if (!file.isEmpty()) teach(file, address);
  };
  QAction* teach_here = add_action(tr("Teach a class on this machine…"), {}, [ask_file] { ask_file({}); });
  QAction* teach_beyond = add_action(tr("Teach a class over the network, with keys…"), {}, [this, ask_file] {
    bool chosen = false;
    const QString address =
        QInputDialog::getItem(this, tr("Teach a class over the network"),
                              tr("This machine's address, as students reach it"), own_addresses(), 0, true, &chosen);
    if (chosen && !address.trimmed().isEmpty()) ask_file(address.trimmed());
  });
  QAction* join = add_action(tr("Join a class…"), {}, [this] {
    const QString file =
        QFileDialog::getOpenFileName(this, tr("The teacher's join file"), {}, tr("Join files (*.join)"));
    if (file.isEmpty()) return;
    const QString name = QInputDialog::getText(this, tr("Join a class"), tr("Your name"));
    if (!name.trimmed().isEmpty()) attend(file, name.trimmed());
  });
  QAction* answers = add_action(tr("Who has answered what\u2026"), {}, [this] { show_class(); });
  QAction* follow = add_action(tr("Follow the teacher"), {}, [this] { room_.set_following(!room_.following()); });
  follow->setCheckable(true);
  QAction* leave = add_action(tr("Leave the class"), {}, [this] { room_.leave(); });
  for (QAction* action : {teach_here, teach_beyond, answers, join, follow, leave}) menu->addAction(action);
  const auto take = [this, answers, follow, leave] {
    answers->setEnabled(room_.teaching());
    follow->setEnabled(room_.attending());
    follow->setChecked(room_.attending() && room_.following());
    leave->setEnabled(room_.teaching() || room_.attending());
  };
  connect(&room_, &ClassRoom::changed, this, take);
  take();
  connect(lab_, &LabPanel::class_wanted, this, [this] { show_class(); });
  connect(&room_, &ClassRoom::ending, this, [this] {
    write_answers();
    answers_file_.clear();
  });
  set_up_pause(answers_soon_, keep_interval_ms, this, &MainWindow::write_answers);
  connect(&room_, &ClassRoom::changed, this, [this] {
    if (!answers_file_.isEmpty() && !answers_soon_.isActive()) answers_soon_.start();
  });
  // A file that is not one of the labs here is not opened: names are from outside.
  connect(&room_, &ClassRoom::lab_wanted, this, [this](const QString& name) {
    for (const auto& file : resource_files("labs"))
      if (QString::fromStdString(file.stem().string()) == name) return open(QString::fromStdString(file.string()));
  });
  connect(&room_, &ClassRoom::view_wanted, this, [this](const QString& name) {
    if (QWidget* view = find_view(name)) workspace_->bring(view);
  });
  connect(workspace_, &Workspace::front_changed, &room_, [this](QWidget* view) {
    const QString name = name_of(view);
    if (!name.isEmpty() && room_.teaching()) room_.show_view(name);
  });
}

ClassWindow& MainWindow::show_class() {
  if (class_window_ == nullptr) class_window_ = new ClassWindow(room_, *lab_, this);
  class_window_->show();
  class_window_->raise();
  class_window_->activateWindow();
  return *class_window_;
}

void MainWindow::keep_answers(const QString& file) {
  answers_file_ = file;
  write_answers();
}

void MainWindow::write_answers() {
  if (answers_file_.isEmpty() || !room_.teaching()) return;
  if (const QString why = save_answers(room_, *lab_, answers_file_); !why.isEmpty()) add_log(why, true);
}

QString MainWindow::try_joining(const std::function<void()>& join) {
  try {
    join();
    return {};
  } catch (const JoinError& error) {
    const QString why = QString::fromUtf8(error.what());
    add_log(why, true);
    workspace_->bring(log_);
    return why;
  }
}

QString MainWindow::teach(const QString& join_file, const QString& address) {
  return try_joining([&] {
    room_.teach(join_file, address);
    add_log(tr("A class is open; students join with %1").arg(join_file), false);
  });
}

QString MainWindow::attend(const QString& join_file, const QString& name) {
  return try_joining([&] { room_.attend(join_file, name); });
}

}  // namespace rankscope::app
