// SPDX-License-Identifier: GPL-3.0-or-later
// A tab bar with uncut titles: tabs without space are hidden, and a button at the end lists them. The selected
// tab is always visible.
#pragma once
#include <QObject>

class QTabBar;
class QToolButton;

namespace rankscope::app {

class TabOverflow : public QObject {
  Q_OBJECT
 public:
  /// Lives as long as the bar, which has a parent: the button is the bar's sibling, because a screen reader sees only
  /// tabs in a bar. Once for each.
  explicit TabOverflow(QTabBar& bar);
  /// The bar's; null if it has none.
  static TabOverflow* of(const QTabBar& bar);

  /// Hides tabs that do not fit. Call it after a change of titles; it detects changes of the bar's size.
  void fit();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void fit_soon();
  void fill_menu();

  QTabBar& bar_;
  QToolButton* more_;
  bool fitting_ = false, awaited_ = false;
};

}  // namespace rankscope::app
