// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/tab_overflow.hpp"

#include <QEvent>
#include <QMenu>
#include <QTabBar>
#include <QToolButton>
#include <utility>
#include <vector>

namespace rankscope::app {

TabOverflow::TabOverflow(QTabBar& bar) : QObject(&bar), bar_(bar), more_(new QToolButton(bar.parentWidget())) {
  // Without scroll buttons the window could not be narrower than all tabs. They are never visible.
  bar.setUsesScrollButtons(true);
  more_->setObjectName(QStringLiteral("moreTabs"));
  more_->setPopupMode(QToolButton::InstantPopup);
  more_->setToolTip(tr("More views"));
  more_->setAccessibleName(tr("More views"));
  more_->setFocusPolicy(Qt::TabFocus);
  more_->setMenu(new QMenu(more_));
  more_->hide();
  connect(more_->menu(), &QMenu::aboutToShow, this, &TabOverflow::fill_menu);
  connect(&bar, &QTabBar::currentChanged, this, &TabOverflow::fit_soon);
  bar.installEventFilter(this);
  fit_soon();
}

TabOverflow* TabOverflow::of(const QTabBar& bar) {
  return bar.findChild<TabOverflow*>(QString(), Qt::FindDirectChildrenOnly);
}

bool TabOverflow::eventFilter(QObject* watched, QEvent* event) {
  if (watched == &bar_ &&
      (event->type() == QEvent::Resize || event->type() == QEvent::Move || event->type() == QEvent::Show ||
       event->type() == QEvent::StyleChange || event->type() == QEvent::FontChange))
    fit_soon();
  return QObject::eventFilter(watched, event);
}

// Later, not during the bar's own layout, and once for many events.
void TabOverflow::fit_soon() {
  if (std::exchange(awaited_, true)) return;
  QMetaObject::invokeMethod(this, &TabOverflow::fit, Qt::QueuedConnection);
}

void TabOverflow::fit() {
  awaited_ = false;
  if (fitting_ || bar_.count() == 0) return;
  fitting_ = true;
  bar_.setUpdatesEnabled(false);
  std::vector<int> widths;
  int all = 0;
  // Only the hidden ones: QTabBar (6.4) repeats its layout only if the *last* call changed something.
  for (int i = 0; i < bar_.count(); ++i)
    if (!bar_.isTabVisible(i)) bar_.setTabVisible(i, true);
  for (int i = 0; i < bar_.count(); ++i) {
    widths.push_back(bar_.tabRect(i).width());
    all += widths.back();
  }
  const bool fits = all <= bar_.width();
  more_->setText(tr("More ▾"));
  more_->adjustSize();
  const int current = bar_.currentIndex();
  int room = bar_.width();
  if (!fits) room -= more_->width() + (current >= 0 ? widths[static_cast<std::size_t>(current)] : 0);
  bool ended = false;  // the first tab that does not fit ends the row, so that the order is kept
  for (int i = 0; i < bar_.count() && !fits; ++i) {
    if (i == current) continue;
    ended = ended || room < widths[static_cast<std::size_t>(i)];
    if (ended)
      bar_.setTabVisible(i, false);
    else
      room -= widths[static_cast<std::size_t>(i)];
  }
  more_->setVisible(!fits);
  more_->move(bar_.x() + bar_.width() - more_->width(), bar_.y() + (bar_.height() - more_->height()) / 2);
  more_->raise();
  bar_.setUpdatesEnabled(true);
  fitting_ = false;
}

void TabOverflow::fill_menu() {
  QMenu* menu = more_->menu();
  menu->clear();
  for (int i = 0; i < bar_.count(); ++i)
    if (!bar_.isTabVisible(i)) menu->addAction(bar_.tabText(i), this, [this, i] { bar_.setCurrentIndex(i); });
}

}  // namespace rankscope::app
