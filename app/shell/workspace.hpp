// SPDX-License-Identifier: GPL-3.0-or-later
// Everything below the top bar: the time line and the shares of its step in the middle, below them one lower view of
// many, chosen by tabs, and a panel at each side. Sizes are from divide() (arrangement.hpp). A view that is not in
// front is hidden, so it computes nothing. A view can have its own window.
#pragma once
#include <QWidget>
#include <vector>

#include "app/shell/arrangement.hpp"
#include "app/shell/side_panel.hpp"

class QLabel;
class QPushButton;
class QTabBar;
class QToolButton;

namespace rankscope::app {

class SplitHandle;

class Workspace : public QWidget {
  Q_OBJECT
 public:
  explicit Workspace(QWidget* parent);

  /// The time line, and the strip below it. Once, before anything is shown.
  void set_upper(QWidget* timeline, QWidget* shares, int open_shares_height);
  /// A lower view. Its number is its position in the order of these calls.
  void add_tab(const QString& title, QWidget* view);
  void set_title(QWidget* view, const QString& title);
  SidePanel* add_panel(const QString& title, const QString& key, SidePanel::Side side, QWidget* content);

  /// The lower views, in the order of their tabs.
  std::vector<QWidget*> tabs() const;
  QString title_of(const QWidget* view) const;
  QWidget* front() const;
  /// Makes it visible: its tab in front, its panel unfolded, its own window on top.
  void bring(QWidget* view);
  /// Its tab in front; if time line and lower view do not fit together, the time line stays visible.
  void prefer(QWidget* view);
  /// True while it is visible.
  bool in_front(const QWidget* view) const;

  const Parts& parts() const { return parts_; }
  const Arrangement& arrangement() const { return choices_; }
  void set_arrangement(const Arrangement& choices);
  /// The default layout.
  void reset();
  void toggle_panel(QWidget* content);
  void set_shares_open(bool open);
  /// Gives the lower view all of the middle, or only its part.
  void set_lower_alone(bool alone);
  bool lower_only() const { return parts_.lower_only(); }
  /// Gives that view its own window, or returns it to its tab.
  void set_detached(QWidget* view, bool detached);
  bool detached(const QWidget* view) const;

  /// Removes a view temporarily, and puts it back.
  void lend(QWidget* view);
  void take_back(QWidget* view);

  QSize minimumSizeHint() const override;

 signals:
  /// The user arranged something: folded, resized or detached it.
  void arranged();
  /// Another lower view is in front.
  void front_changed(QWidget* view);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  struct Tab {
    QWidget* view = nullptr;
    QString title;
    QWidget* window = nullptr;  ///< its own; null: it has none
  };
  Tab* tab_of(const QWidget* view);
  const Tab* tab_of(const QWidget* view) const;
  void make_tab_row();
  void change(const Arrangement& choices);  ///< by the user
  void place();
  void place_tab_row();
  void show_front();
  void show_notice(const Tab& tab);
  void fold(bool lesson, bool folded);
  void fill_tab_menu(QPoint at);
  PartNeeds needs() const;

  Arrangement choices_;
  Parts parts_;
  PartNeeds placed_for_;
  int open_shares_ = 0;
  QWidget *timeline_ = nullptr, *shares_ = nullptr, *lower_;
  SidePanel *lesson_ = nullptr, *plan_ = nullptr;
  SplitHandle* handle_;
  QWidget* row_;
  QTabBar* bar_;
  QToolButton *back_, *alone_;
  QWidget* notice_;
  QLabel* notice_words_;
  QPushButton* notice_button_;
  std::vector<Tab> tabs_;
  const QWidget *lent_ = nullptr, *reported_front_ = nullptr;
  bool moved_ = false;  ///< an edge is being dragged
};

}  // namespace rankscope::app
