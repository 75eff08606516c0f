// SPDX-License-Identifier: GPL-3.0-or-later
// The window's views: find one, show one alone or to a class, and save one.
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QPlainTextEdit>
#include <QToolTip>

#include "app/lesson/lab_panel.hpp"
#include "app/shell/banner.hpp"
#include "app/shell/main_window.hpp"
#include "app/shell/plan_panel.hpp"
#include "app/shell/presentation.hpp"
#include "app/shell/status_line.hpp"
#include "app/shell/top_bar.hpp"
#include "app/shell/view_list.hpp"
#include "app/shell/workspace.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/elided_label.hpp"
#include "app/views/common/parts.hpp"
#include "app/views/common/save_view.hpp"
#include "app/views/common/style.hpp"
#include "app/views/timeline/timeline_view.hpp"

namespace rankscope::app {
namespace {

constexpr int widest_panel = 720;  // longer lines of a lesson are hard to read

/// A panel that is shown alone is in the middle: a lesson with its longest lines, the plan with its controls' width.
void add_panel(QBoxLayout& column, QWidget& panel, bool stretches) {
  constexpr int nearly_all = 1000;
  panel.setMaximumWidth(widest_panel);
  auto* row = row_in(nullptr, 0);
  row->addStretch(1);
  row->addWidget(&panel, stretches ? nearly_all : 0);
  row->addStretch(1);
  column.addLayout(row, 1);
}

}  // namespace

void MainWindow::add_view(const ViewKind& kind, DataView* view) {
  const QString title = tr(kind.title);
  view->setAccessibleName(title);
  if (view != timeline_) workspace_->add_tab(title, view);
  connect(view, &DataView::show_anyway_wanted, lab_, &LabPanel::show_anyway);
  connect(view, &DataView::rank_pointed, lab_,
          [this](int rank) { lab_->point([&](Pointed& pointed) { pointed.rank = PointedRank{rank}; }); });
  connect(view, &DataView::uplink_pointed, lab_, [this](const QString& level, int unit) {
    lab_->point([&](Pointed& pointed) { pointed.link = PointedLink{level.toStdString(), unit, 0, 0}; });
  });
  connect(view, &DataView::link_pointed, lab_, [this](int from, int to) {
    lab_->point([&](Pointed& pointed) { pointed.link = PointedLink{{}, 0, from, to}; });
  });
  connect(view, &DataView::menu_opens, this, [this, view](QMenu* menu) {
    active_ = view;
    lesson_used_ = false;
    menu->addAction(save_);
    menu->addAction(present_);
  });
}

QWidget* MainWindow::find_view(const QString& name) const {
  if (name == QLatin1String("plan")) return plan_;
  if (name == QLatin1String("lab")) return lab_;
  const auto found = views_.find(name);
  return found == views_.end() ? nullptr : found->second;
}

QWidget* MainWindow::view_named(const QString& name) {
  QWidget* view = find_view(name);
  if (view != nullptr && !presenting()) workspace_->bring(view);
  return view;
}

QString MainWindow::name_of(const QWidget* view) const {
  for (const auto& [name, one] : views_)
    if (one == view) return name;
  return {};
}

void MainWindow::show_rest(bool shown) {
  show_all(shown, {top_, workspace_, status_});
  banner_->set_suppressed(!shown);
}

void MainWindow::show_alone(const QString& name) {
  QWidget* view = view_named(name);
  if (view == nullptr) return;
  auto* column = static_cast<QBoxLayout*>(centre_->layout());
  show_rest(false);
  plan_->set_heading_visible(true);
  workspace_->lend(view);
  if (view == lab_ || view == plan_)
    add_panel(*column, *view, view == lab_);
  else
    column->addWidget(view, 1);
  view->show();
}

// The view that was used last.
void MainWindow::notice_active(QWidget* widget) {
  for (QWidget* at = widget; at != nullptr; at = at->parentWidget())
    if (auto* view = dynamic_cast<DataView*>(at)) {
      active_ = view;
      lesson_used_ = false;
      return;
    }
  lesson_used_ = lesson_used_ || lab_->isAncestorOf(widget);
}

DataView* MainWindow::active_view() const {
  if (active_ != nullptr && workspace_->in_front(active_)) return active_;
  auto* lower = dynamic_cast<DataView*>(workspace_->front());
  return workspace_->lower_only() && lower != nullptr ? lower : timeline_;
}

void MainWindow::present(const QString& name) {
  stop_presenting();
  QWidget* view = view_named(name);
  if (view == nullptr) return;
  auto* data_view = dynamic_cast<DataView*>(view);
  presented_ = view;
  workspace_->lend(view);
  auto* page = new QWidget;
  auto* column = column_in(page, 4, {0, 6, 0, 0});
  auto* heading = new ElidedLabel(page);
  heading->setContentsMargins(16, 0, 16, 0);
  // The time line shows its own name, and a panel has its own heading.
  const QString what =
      data_view == nullptr || view == timeline_ ? QString() : view->accessibleName() + QStringLiteral(" · ");
  const auto take_heading = [this, heading, what, own = data_view != nullptr ? data_view->own_source() : QString()] {
    heading->set_text(what + (own.isEmpty() ? top_->source_text() : own) + tr(" · Esc leaves"));
  };
  connect(&session_, &Session::state_changed, heading, take_heading);
  connect(&state_, &SharedState::shown_changed, heading, take_heading);
  take_heading();
  column->addWidget(heading);
  if (data_view != nullptr) {
    column->addWidget(view, 1);
    data_view->set_presentation(Presentation::scale_up());
  } else {
    add_panel(*column, *view, view == lab_);
  }
  view->show();
  show_rest(false);
  QFont tip = interface_font();
  tip.setPixelSize(presented_pixels);
  QToolTip::setFont(tip);
  if (presentation_ == nullptr) {
    presentation_ = new Presentation(centre_);
    centre_->layout()->addWidget(presentation_);
  }
  presentation_->show();
  presentation_->present(page);
  presentation_->setFocus();
  view->setFocus();
}

void MainWindow::stop_presenting() {
  if (!presenting()) return;
  QWidget* page = presentation_->release();
  QWidget* view = std::exchange(presented_, nullptr);
  view->setParent(nullptr);
  page->setParent(presentation_);  // which deletes it, if the event loop ends first
  page->deleteLater();  // a button on it may have been pressed
  presentation_->hide();
  if (auto* data_view = dynamic_cast<DataView*>(view))
    data_view->set_presentation(1);
  else
    view->setMaximumWidth(QWIDGETSIZE_MAX);
  QToolTip::setFont(interface_font());
  show_rest(true);
  workspace_->take_back(view);
  view->setFocus();
}

QString MainWindow::save(const QString& view, const QString& file) {
  if (view.isEmpty()) return save_view(*this, nullptr, file);
  QWidget* widget = view_named(view);
  if (widget == nullptr) return tr("%1: no such view").arg(view);
  QWidget& painted = presenting() ? *static_cast<QWidget*>(presentation_) : *widget;
  return save_view(painted, dynamic_cast<const TableSource*>(widget), file);
}

void MainWindow::save_dialog(const QString& view, const QString& title) {
  const QString kinds =
      view.isEmpty() ? tr("Picture (*.png);;Drawing (*.svg)") : tr("Picture (*.png);;Drawing (*.svg);;Table (*.csv)");
  const QString name = view.isEmpty() ? QStringLiteral("rankscope") : view;
  QString kind;
  QString file =
      QFileDialog::getSaveFileName(this, tr("Save: %1").arg(title), name + QStringLiteral(".png"), kinds, &kind);
  if (file.isEmpty()) return;
  if (QFileInfo(file).suffix().isEmpty()) file += kind.section(QLatin1Char('*'), 1).chopped(1);
  const QString why = save(view, file);
  add_log(why.isEmpty() ? tr("saved %1").arg(file) : why, !why.isEmpty());
  if (!why.isEmpty()) workspace_->bring(log_);
}

}  // namespace rankscope::app
