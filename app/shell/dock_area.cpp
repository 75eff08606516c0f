// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/dock_area.hpp"

#include <QTabBar>
#include <algorithm>
#include <utility>

#include "app/shell/tab_overflow.hpp"
#include "app/views/common/data_view.hpp"

namespace rankscope::app {
namespace {

constexpr int lab_width = 280, plan_width = 310, tabs_height = 300, tab_bar_height = 40;
constexpr const char* panel_property = "panel";

/// Stands in for a title bar and takes no room.
class NoTitle : public QWidget {
 public:
  using QWidget::QWidget;
  QSize sizeHint() const override { return {0, 0}; }
  QSize minimumSizeHint() const override { return {0, 0}; }
};

}  // namespace

DockArea::DockArea(QWidget* parent) : QMainWindow(parent) {
  setWindowFlags(Qt::Widget);  // a main window would make itself a window again
  setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
  setDocumentMode(true);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
}

QDockWidget* DockArea::add(const QString& name, const QString& title, QWidget* view, bool panel) {
  auto* dock = new QDockWidget(title, this);
  dock->setObjectName(name);
  dock->setProperty(panel_property, panel);
  dock->setWidget(view);
  no_title_[dock] = new NoTitle(dock);
  dock->setTitleBarWidget(no_title_[dock]);
  docks_ << dock;
  dock_of_[view] = dock;
  // Docks behind another tab are only moved out of sight: a view there would go on computing.
  connect(dock, &QDockWidget::visibilityChanged, view, [this, dock, view](bool visible) {
    if (dock->widget() == view) view->setVisible(visible);
    give_room();
  });
  const auto titles = [this] { QMetaObject::invokeMethod(this, &DockArea::take_titles, Qt::QueuedConnection); };
  connect(dock, &QDockWidget::topLevelChanged, this, titles);
  connect(dock, &QDockWidget::dockLocationChanged, this, titles);
  connect(dock, &QDockWidget::visibilityChanged, this, titles);
  return dock;
}

QDockWidget* DockArea::add_tab(const QString& name, const QString& title, QWidget* view) {
  QDockWidget* before = nullptr;
  for (QDockWidget* dock : docks_)
    if (!dock->property(panel_property).toBool()) before = dock;
  QDockWidget* dock = add(name, title, view, false);
  addDockWidget(Qt::BottomDockWidgetArea, dock);
  if (before != nullptr) tabifyDockWidget(before, dock);
  return dock;
}

QDockWidget* DockArea::add_panel(const QString& name, const QString& title, QWidget* panel, Qt::DockWidgetArea side) {
  QDockWidget* dock = add(name, title, panel, true);
  dock->setAllowedAreas(Qt::LeftDockWidgetArea | Qt::RightDockWidgetArea);
  addDockWidget(side, dock);
  return dock;
}

// A tab is a title, and panels begin with a heading of their own; what stands alone or floats can be moved by its bar.
void DockArea::take_titles() {
  for (QDockWidget* dock : docks_) {
    const bool tab = !tabifiedDockWidgets(dock).isEmpty() || dock->property(panel_property).toBool();
    QWidget* wanted = tab && !dock->isFloating() ? no_title_[dock] : nullptr;
    if (dock->titleBarWidget() == wanted) continue;
    dock->setTitleBarWidget(wanted);
    no_title_[dock]->setVisible(wanted != nullptr);
  }
  for (QTabBar* bar : findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
    bar->setElideMode(Qt::ElideNone);
    bar->setExpanding(false);
    bar->setDrawBase(false);
    if (auto* overflow = TabOverflow::of(*bar))
      overflow->fit();
    else
      new TabOverflow(*bar);
  }
}

// What is low by itself, where the time line takes all that it can: Qt keeps no height of a dock that is less than
// what the middle would have.
void DockArea::give_room() {
  if (!sized_ || centralWidget() == nullptr) return;  // as a window opens all views are shown for a moment
  const int left = height() - centralWidget()->minimumSizeHint().height() - tab_bar_height;
  for (QDockWidget* dock : docks_) {
    const QWidget* view = dock->widget();
    const bool front = view != nullptr && view->isVisible() && !dock->isFloating();
    const int wanted = front ? view->property(wanted_height_property).toInt() : 0;
    dock->setMinimumHeight(std::clamp(left, 0, wanted));
  }
}

void DockArea::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  give_room();
}

QDockWidget* DockArea::dock_of(const QWidget* view) const {
  const auto found = dock_of_.find(view);
  return found == dock_of_.end() ? nullptr : found->second;
}

void DockArea::bring(QWidget* view) {
  QDockWidget* dock = dock_of(view);
  if (dock == nullptr) return;
  dock->show();
  dock->raise();
}

bool DockArea::in_front(const QWidget* view) const {
  const QDockWidget* dock = dock_of(view);
  return dock != nullptr && dock->widget() == view && view->isVisible();
}

void DockArea::arrange_anew() {
  QDockWidget* first = nullptr;
  for (QDockWidget* dock : docks_) {
    if (dock->property(panel_property).toBool()) {
      dock->setFloating(false);
      dock->show();
      continue;
    }
    dock->setFloating(false);
    addDockWidget(Qt::BottomDockWidgetArea, dock);
    if (first != nullptr) tabifyDockWidget(first, dock);
    if (first == nullptr) first = dock;
    dock->show();
  }
  if (first != nullptr) first->raise();
  take_sizes();
  take_titles();
}

void DockArea::take_sizes() {
  for (QDockWidget* dock : docks_) {
    const bool panel = dock->property(panel_property).toBool();
    if (panel)
      resizeDocks({dock}, {dockWidgetArea(dock) == Qt::LeftDockWidgetArea ? lab_width : plan_width}, Qt::Horizontal);
    else
      resizeDocks({dock}, {tabs_height}, Qt::Vertical);
  }
}

bool DockArea::restore(const QByteArray& layout) {
  if (layout.isEmpty() || !restoreState(layout)) return false;
  sized_ = true;
  return true;
}

void DockArea::lend(QWidget* view) {
  if (QDockWidget* dock = dock_of(view)) dock->hide();
  view->setParent(nullptr);
}

void DockArea::take_back(QWidget* view) {
  QDockWidget* dock = dock_of(view);
  if (dock == nullptr) return;
  dock->setWidget(view);
  dock->show();
  dock->raise();
}

void DockArea::showEvent(QShowEvent* event) {
  QMainWindow::showEvent(event);
  take_titles();
  if (!std::exchange(sized_, true)) take_sizes();
}

}  // namespace rankscope::app
