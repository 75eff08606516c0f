// SPDX-License-Identifier: GPL-3.0-or-later
// The time line in the middle, and around it every other view in a dock of its own: tabs that one drags apart, floats,
// hides and brings back. A view that is behind another tab is not visible, and so computes nothing.
#pragma once
#include <QDockWidget>
#include <QMainWindow>
#include <map>

namespace rankscope::app {

class DockArea : public QMainWindow {
  Q_OBJECT
 public:
  explicit DockArea(QWidget* parent);

  /// A tab at the bottom. `name` is what a saved layout knows it by.
  QDockWidget* add_tab(const QString& name, const QString& title, QWidget* view);
  /// A panel as high as the window, without a title.
  QDockWidget* add_panel(const QString& name, const QString& title, QWidget* panel, Qt::DockWidgetArea side);

  /// Null for a widget that has no dock.
  QDockWidget* dock_of(const QWidget* view) const;
  /// Brings it to the front, shown if it was hidden. Nothing for a widget that has no dock.
  void bring(QWidget* view);
  /// True while it is to be seen: not hidden, and not behind another tab.
  bool in_front(const QWidget* view) const;
  /// All docks, in the order in which they were added.
  const QList<QDockWidget*>& docks() const { return docks_; }
  /// As it is when nobody has moved anything.
  void arrange_anew();
  /// A layout that saveState() gave; false: it is none of ours.
  bool restore(const QByteArray& layout);

  /// Takes a view out of its dock, for a while, and puts it back.
  void lend(QWidget* view);
  void take_back(QWidget* view);

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QDockWidget* add(const QString& name, const QString& title, QWidget* view, bool panel);
  void take_titles();
  void give_room();   ///< to the views in front, as they want
  void take_sizes();  ///< those of the first arrangement

  QList<QDockWidget*> docks_;
  std::map<const QWidget*, QDockWidget*> dock_of_;
  bool sized_ = false;
  std::map<QDockWidget*, QWidget*> no_title_;  ///< what stands in for the title bar of a dock that shows none
};

}  // namespace rankscope::app
