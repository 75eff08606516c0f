// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/workspace.hpp"

#include <QCloseEvent>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QTabBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <functional>
#include <utility>

#include "app/shell/split_handle.hpp"
#include "app/shell/tab_overflow.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/parts.hpp"

namespace rankscope::app {
namespace {

constexpr int least_workspace_width = 480, least_workspace_height = 260;  ///< smaller sizes are not readable
constexpr QSize own_window(900, 600);

/// A view's own window: closing it puts the view back.
class OwnWindow : public QWidget {
 public:
  OwnWindow(QWidget* parent, std::function<void()> on_close) : QWidget(parent, Qt::Window), on_close_(on_close) {
    column_in(this, 0);
  }

 protected:
  void closeEvent(QCloseEvent* event) override {
    event->ignore();
    on_close_();
  }

 private:
  std::function<void()> on_close_;
};

}  // namespace

Workspace::Workspace(QWidget* parent)
    : QWidget(parent),
      lower_(new QWidget(this)),
      handle_(new SplitHandle(this)),
      row_(new QWidget(this)),
      bar_(new QTabBar(row_)),
      back_(
          make_tool_button(row_, tr("▲ Time line"), tr("Show the time line again (Esc)"), tr("Back to the time line"))),
      alone_(make_tool_button(row_, QStringLiteral("⤢"), tr("Maximise the lower view (F9)"), tr("Maximise"))),
      notice_(new QWidget(lower_)),
      notice_words_(new QLabel(notice_)),
      notice_button_(new QPushButton(notice_)) {
  lower_->setObjectName(QStringLiteral("lowerView"));
  make_tab_row();
  auto* column = new QVBoxLayout(notice_);
  notice_words_->setWordWrap(true);
  notice_words_->setAlignment(Qt::AlignCenter);
  column->addStretch(1);
  column->addWidget(notice_words_);
  column->addWidget(notice_button_, 0, Qt::AlignHCenter);
  column->addStretch(1);
  notice_->hide();
  connect(notice_button_, &QPushButton::clicked, this, [this] {
    QWidget* view = front();
    if (detached(view))
      set_detached(view, false);
    else
      set_lower_alone(true);
  });
  connect(handle_, &SplitHandle::moved, this, [this](int by) {
    moved_ = true;
    choices_.lower_height = std::max(parts_.lower.height() - by, part_size::lower);
    place();
    choices_.lower_height = parts_.lower.height();
  });
  connect(handle_, &SplitHandle::released, this, [this] {
    if (std::exchange(moved_, false)) emit arranged();
  });
  connect(handle_, &SplitHandle::clicked_twice, this, [this] { set_lower_alone(true); });
}

void Workspace::make_tab_row() {
  row_->setObjectName(QStringLiteral("tabRow"));
  row_->setAttribute(Qt::WA_StyledBackground);
  bar_->setAccessibleName(tr("Lower views"));
  bar_->setDocumentMode(true);
  bar_->setElideMode(Qt::ElideNone);
  bar_->setExpanding(false);
  bar_->setDrawBase(false);
  bar_->setContextMenuPolicy(Qt::CustomContextMenu);
  for (QToolButton* button : {back_, alone_}) button->setFocusPolicy(Qt::TabFocus);
  alone_->setCheckable(true);
  new TabOverflow(*bar_);
  connect(bar_, &QTabBar::currentChanged, this, [this] { show_front(); });
  connect(bar_, &QTabBar::tabBarClicked, this, [this](int index) {
    if (index >= 0 && parts_.lower.isEmpty()) bring(tabs_[static_cast<std::size_t>(index)].view);
  });
  connect(bar_, &QTabBar::tabBarDoubleClicked, this, [this] { set_lower_alone(!choices_.lower_alone); });
  connect(bar_, &QWidget::customContextMenuRequested, this, &Workspace::fill_tab_menu);
  connect(back_, &QToolButton::clicked, this, [this] { set_lower_alone(false); });
  connect(alone_, &QToolButton::clicked, this, [this] { set_lower_alone(!lower_only()); });
}

void Workspace::fill_tab_menu(QPoint at) {
  const int index = bar_->tabAt(at);
  if (index < 0) return;
  QWidget* view = tabs_[static_cast<std::size_t>(index)].view;
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  const bool own = detached(view);
  menu->addAction(own ? tr("Dock view") : tr("Detach view"), this, [this, view, own] { set_detached(view, !own); });
  menu->addAction(tr("Maximise it (F9)"), this, [this, view] {
    bring(view);
    set_lower_alone(true);
  });
  menu->popup(bar_->mapToGlobal(at));
}

void Workspace::set_upper(QWidget* timeline, QWidget* shares, int open_shares_height) {
  timeline_ = timeline;
  shares_ = shares;
  open_shares_ = open_shares_height;
  for (QWidget* part : {timeline, shares}) part->setParent(this);
}

void Workspace::add_tab(const QString& title, QWidget* view) {
  view->setParent(lower_);
  view->hide();
  tabs_.push_back({view, title, nullptr});
  bar_->addTab(tr("%1 %2").arg(tabs_.size()).arg(title));
}

void Workspace::set_title(QWidget* view, const QString& title) {
  Tab* tab = tab_of(view);
  if (tab == nullptr || tab->title == title) return;
  tab->title = title;
  const auto index = static_cast<int>(tab - tabs_.data());
  bar_->setTabText(index, tr("%1 %2").arg(index + 1).arg(title));
  if (auto* overflow = TabOverflow::of(*bar_)) overflow->fit();
  if (tab->window != nullptr) tab->window->setWindowTitle(title);
}

SidePanel* Workspace::add_panel(const QString& title, const QString& key, SidePanel::Side side, QWidget* content) {
  const bool lesson = side == SidePanel::Side::left;
  auto* panel = new SidePanel(title, key, side, content, this);
  (lesson ? lesson_ : plan_) = panel;
  connect(panel, &SidePanel::fold_wanted, this, [this, lesson](bool folded) { fold(lesson, folded); });
  connect(panel, &SidePanel::width_wanted, this, [this, lesson](int width) {
    moved_ = true;
    const PartNeeds least = needs();
    // Panels are no wider than the middle's least width allows, so that the saved width is the visible one.
    const int other = lesson ? parts_.plan.width() : parts_.lesson.width();
    const int most = this->width() - other - part_size::middle;
    const int narrowest = lesson ? least.lesson_width : least.plan_width;
    (lesson ? choices_.lesson_width : choices_.plan_width) = std::max(std::min(width, most), narrowest);
    place();
  });
  connect(panel, &SidePanel::needs_changed, this, [this] {
    if (!(needs() == placed_for_)) place();
  });
  connect(panel, &SidePanel::width_chosen, this, [this] {
    if (std::exchange(moved_, false)) emit arranged();
  });
  return panel;
}

Workspace::Tab* Workspace::tab_of(const QWidget* view) {
  return const_cast<Tab*>(static_cast<const Workspace*>(this)->tab_of(view));
}

const Workspace::Tab* Workspace::tab_of(const QWidget* view) const {
  const auto found = std::find_if(tabs_.begin(), tabs_.end(), [&](const Tab& tab) { return tab.view == view; });
  return found == tabs_.end() ? nullptr : &*found;
}

std::vector<QWidget*> Workspace::tabs() const {
  std::vector<QWidget*> result;
  for (const Tab& tab : tabs_) result.push_back(tab.view);
  return result;
}

QString Workspace::title_of(const QWidget* view) const {
  const Tab* tab = tab_of(view);
  return tab == nullptr ? QString() : tab->title;
}

QWidget* Workspace::front() const {
  const int index = bar_->currentIndex();
  return index < 0 ? nullptr : tabs_[static_cast<std::size_t>(index)].view;
}

void Workspace::bring(QWidget* view) {
  for (SidePanel* panel : {lesson_, plan_})
    if (panel != nullptr && panel->content() == view && panel->folded()) fold(panel == lesson_, false);
  if (view == timeline_ && lower_only()) set_lower_alone(false);
  Tab* tab = tab_of(view);
  if (tab == nullptr) return;
  prefer(view);
  if (tab->window != nullptr) {
    tab->window->raise();
    tab->window->activateWindow();
  }
  if (!parts_.lower.isEmpty()) return;
  choices_.lower_turn = true;
  place();
  if (!parts_.lower.isEmpty()) return;
  choices_.shares_open = false;  // it was in the place of sentence and legend
  place();
}

void Workspace::prefer(QWidget* view) {
  if (const Tab* tab = tab_of(view)) bar_->setCurrentIndex(static_cast<int>(tab - tabs_.data()));
}

bool Workspace::in_front(const QWidget* view) const { return view != nullptr && view->isVisible(); }

void Workspace::set_arrangement(const Arrangement& choices) {
  choices_ = choices;
  place();
}

void Workspace::change(const Arrangement& choices) {
  if (choices == choices_) return;
  set_arrangement(choices);
  emit arranged();
}

void Workspace::reset() {
  for (const Tab& tab : tabs_) set_detached(tab.view, false);
  change(default_arrangement(width()));
}

void Workspace::fold(bool lesson, bool folded) {
  Arrangement choices = choices_;
  (lesson ? choices.lesson_folded : choices.plan_folded) = folded;
  if (!folded) choices.lesson_first = lesson;
  change(choices);
}

void Workspace::toggle_panel(QWidget* content) {
  for (const SidePanel* panel : {lesson_, plan_})
    if (panel != nullptr && panel->content() == content) fold(panel == lesson_, !panel->folded());
}

void Workspace::set_shares_open(bool open) {
  Arrangement choices = choices_;
  choices.shares_open = open;
  change(choices);
}

void Workspace::set_lower_alone(bool alone) {
  Arrangement choices = choices_;
  choices.lower_alone = alone && !parts_.by_turns;
  choices.lower_turn = alone;
  change(choices);
}

void Workspace::set_detached(QWidget* view, bool detached) {
  Tab* tab = tab_of(view);
  if (tab == nullptr || (tab->window != nullptr) == detached) return;
  if (detached) {
    tab->window = new OwnWindow(this, [this, view] { set_detached(view, false); });
    tab->window->setWindowTitle(tab->title);
    tab->window->resize(own_window);
    tab->window->layout()->addWidget(view);
    view->show();
    tab->window->show();
  } else {
    QWidget* window = std::exchange(tab->window, nullptr);
    view->hide();
    view->setParent(lower_);
    window->hide();
    window->deleteLater();
  }
  show_front();
  emit arranged();
}

bool Workspace::detached(const QWidget* view) const {
  const Tab* tab = tab_of(view);
  return tab != nullptr && tab->window != nullptr;
}

void Workspace::lend(QWidget* view) {
  set_detached(view, false);
  lent_ = view;
  for (SidePanel* panel : {lesson_, plan_})
    if (panel != nullptr && panel->content() == view) return panel->lend();
  view->setParent(nullptr);
}

void Workspace::take_back(QWidget* view) {
  lent_ = nullptr;
  for (SidePanel* panel : {lesson_, plan_})
    if (panel != nullptr && panel->content() == view) return panel->take_back();
  view->setParent(view == timeline_ ? this : lower_);
  if (view != timeline_) prefer(view);
  place();
}

PartNeeds Workspace::needs() const {
  PartNeeds result;
  if (lesson_ != nullptr) result.lesson_width = lesson_->content()->minimumWidth() + SidePanel::frame_width();
  if (plan_ != nullptr) result.plan_width = plan_->content()->minimumWidth() + SidePanel::frame_width();
  result.shares_open = open_shares_;
  return result;
}

void Workspace::place() {
  if (timeline_ == nullptr || size().isEmpty()) return;
  placed_for_ = needs();
  parts_ = divide(size(), choices_, placed_for_);
  const auto put = [](QWidget* part, const QRect& area) {
    if (!area.isEmpty()) part->setGeometry(area);
    part->setVisible(!area.isEmpty());
  };
  if (lesson_ != nullptr) {
    put(lesson_, parts_.lesson);
    lesson_->set_folded(parts_.lesson_folded);
  }
  if (plan_ != nullptr) {
    put(plan_, parts_.plan);
    plan_->set_folded(parts_.plan_folded);
  }
  if (lent_ != timeline_) put(timeline_, parts_.timeline);
  put(shares_, parts_.shares);
  put(handle_, parts_.handle);
  put(row_, parts_.tabs);
  put(lower_, parts_.lower);
  place_tab_row();
  show_front();
}

void Workspace::place_tab_row() {
  const int height = row_->height(), button = height - 4;
  const bool alone = parts_.lower_only();
  back_->setVisible(alone);
  const int left = alone ? back_->sizeHint().width() + 8 : 0;
  back_->setGeometry(4, 2, left - 8, button);
  const int right = alone_->sizeHint().width();
  alone_->setChecked(alone);
  alone_->setGeometry(row_->width() - right - 4, 2, right, button);
  bar_->setGeometry(left, 0, row_->width() - left - right - 8, height);
  // A tab whose view is hidden because space is missing does not look selected.
  set_style_property(*bar_, "away", parts_.lower.isEmpty());
}

void Workspace::show_front() {
  const int index = bar_->currentIndex();
  if (index < 0 || timeline_ == nullptr) return;
  const Tab& tab = tabs_[static_cast<std::size_t>(index)];
  const QSize room = parts_.lower.size();
  const bool fits = tab.view->minimumWidth() <= room.width() && tab.view->minimumHeight() <= room.height();
  for (const Tab& other : tabs_)
    if (&other != &tab && other.view != lent_ && other.window == nullptr) other.view->hide();
  if (tab.window == nullptr && tab.view != lent_) {
    tab.view->setGeometry(QRect(QPoint(0, 0), room));
    tab.view->setVisible(fits && !room.isEmpty());
  }
  notice_->setVisible(!room.isEmpty() && (!fits || tab.window != nullptr));
  if (notice_->isVisibleTo(lower_)) show_notice(tab);
  const int requested = tab.view->property(preferred_height_property).toInt();
  const bool needs_more = !parts_.lower_only() && requested > room.height() && !room.isEmpty();
  alone_->setText(needs_more ? tr("⤢ More room") : QStringLiteral("⤢"));
  place_tab_row();
  if (std::exchange(reported_front_, tab.view) != tab.view) emit front_changed(tab.view);
}

// Never shows an empty or cut picture.
void Workspace::show_notice(const Tab& tab) {
  notice_->setGeometry(lower_->rect());
  notice_->raise();
  const QSize least = tab.view->minimumSize();
  if (tab.window != nullptr) {
    notice_words_->setText(tr("%1 is in a separate window.").arg(tab.title));
    notice_button_->setText(tr("Dock view"));
  } else {
    notice_words_->setText(tr("%1 needs %2 × %3 pixels.").arg(tab.title).arg(least.width()).arg(least.height()));
    notice_button_->setText(tr("Maximise it (F9)"));
  }
  notice_button_->setVisible(tab.window != nullptr || !parts_.lower_only());
}

QSize Workspace::minimumSizeHint() const { return {least_workspace_width, least_workspace_height}; }

void Workspace::resizeEvent(QResizeEvent*) { place(); }

void Workspace::showEvent(QShowEvent*) { place(); }

}  // namespace rankscope::app
