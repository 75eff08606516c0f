// SPDX-License-Identifier: GPL-3.0-or-later
// The initial size of the window, the arrangement of its parts, and what is saved for the next start.
#include <QAction>
#include <QScreen>
#include <QSettings>

#include "app/lesson/lab_panel.hpp"
#include "app/shell/gap_strip.hpp"
#include "app/shell/main_window.hpp"
#include "app/shell/plan_panel.hpp"
#include "app/shell/workspace.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/timeline/timeline_view.hpp"

namespace rankscope::app {
namespace {

constexpr int small_screen = 1500;      ///< up to this size the window uses all of it
constexpr double part_of_screen = 0.9;  ///< of a larger one
constexpr QSize without_screen(1440, 900);
constexpr QLatin1String layout_key("layout"), geometry_key("geometry");

}  // namespace

QAction* MainWindow::add_panel_action(QWidget* panel, const QString& name, const QKeySequence& key) {
  return add_action(tr("Fold or unfold: %1").arg(name), key, [this, panel] { workspace_->toggle_panel(panel); });
}

QList<QAction*> MainWindow::make_layout_actions() {
  QList<QAction*> actions;
  actions << add_panel_action(lab_, tr("Lesson"), Qt::CTRL | Qt::Key_B);
  actions << add_panel_action(plan_, tr("Plan"), Qt::CTRL | Qt::Key_J);
  actions << add_action(tr("Fold or unfold: Where the step goes"), Qt::CTRL | Qt::Key_G,
                        [this] { workspace_->set_shares_open(!gap_->open()); });
  actions << add_action(tr("Maximise / restore the lower view"), Qt::Key_F9,
                        [this] { workspace_->set_lower_alone(!workspace_->lower_only()); });
  actions << add_action(tr("Detach / dock view"), {}, [this] {
    QWidget* view = active_view() == timeline_ ? workspace_->front() : active_view();
    workspace_->set_detached(view, !workspace_->detached(view));
  });
  actions << add_action(tr("Reset layout"), {}, [this] {
    stop_presenting();
    workspace_->reset();
  });
  return actions;
}

bool MainWindow::press_escape() {
  if (welcomes() && session_.state() != SessionState::empty) {
    set_welcome(false);
    return true;
  }
  if (!workspace_->lower_only()) return false;
  workspace_->set_lower_alone(false);
  timeline_->setFocus();
  return true;
}

void MainWindow::restore_layout() {
  const QSize screen_size = screen()->size();
  QSize requested = without_screen;
  if (remember_) {
    const QSize room = screen()->availableGeometry().size();
    requested = room * part_of_screen;
    if (room.width() <= small_screen) setWindowState(windowState() | Qt::WindowMaximized);
  }
  resize(requested);
  workspace_->set_arrangement(default_arrangement(
      windowState().testFlag(Qt::WindowMaximized) ? screen()->availableGeometry().width() : requested.width()));
  if (!remember_) return;
  QSettings settings;
  settings.remove(QStringLiteral("docks"));  // of older versions, which could be collapsed
  auto saved = from_bytes(settings.value(layout_key).toByteArray(), screen_size);
  if (!saved) return;
  saved->lower_alone = saved->lower_turn = false;  // users look for the time line first
  workspace_->set_arrangement(*saved);
  restoreGeometry(settings.value(geometry_key).toByteArray());
}

void MainWindow::save_layout() const {
  QSettings settings;
  settings.setValue(geometry_key, saveGeometry());
  settings.setValue(layout_key, to_bytes(workspace_->arrangement(), screen()->size()));
}

}  // namespace rankscope::app
