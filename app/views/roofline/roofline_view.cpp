// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/roofline/roofline_view.hpp"

#include <QPainter>
#include <algorithm>

#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

constexpr int control_height = 28, gap = 8;
constexpr int preferred_height = 400;
constexpr int table_share = 56, scroll_bar = 18;  ///< per cent of the width, at most; pixels
constexpr int beside = 640;                       ///< from this width on the table is to the right of the chart
constexpr int least_for_below = 380;              ///< heights: below it the narrow view has no table
constexpr int spare_columns[] = {6, 5, 4, 3, 2, 1};  ///< the least important first

}  // namespace

RooflineView::RooflineView(SharedState& state, Session& session, QWidget* parent)
    : DataView(state, session, parent),
      session_(session),
      roof_(new QComboBox(this)),
      words_(new ElidedLabel(this)),
      chart_(new PlotChart(this)),
      table_(new RowsTable(roofline_titles(), 1, tr("Ops of the step"), this)) {
  setProperty(preferred_height_property, preferred_height);
  roof_->setAccessibleName(tr("Which roof"));
  roof_->addItems({tr("Measured roof"), tr("Roof of the cluster file")});
  roof_->setToolTip(
      tr("Measured: the fastest matrix product and the fastest large copy on the run's machine "
         "(rankscope-engine peak)."));
  connect(roof_, &QComboBox::activated, this, &RooflineView::refresh);
  connect(&session.figures(), &FiguresModel::changed, this, &RooflineView::refresh);
  connect(&session, &Session::scenario_changed, this, &RooflineView::refresh);
}

void RooflineView::refresh() {
  if (!isVisible()) return;
  picture_ = roofline_of(session_, roof_->currentIndex() == 0);
  show_picture();
}

void RooflineView::show_picture() {
  words_->set_text(picture_.roof_words);
  chart_->show_plot(roofline_plot(picture_, colours()));
  table_->set_rows(roofline_rows(picture_));
  arrange();
  update();
}

void RooflineView::arrange() {
  const bool there = !picture_.empty() && !veiled();
  const bool chooses = there && has_measured_roof(session_);
  roof_->setVisible(chooses);
  roof_->setGeometry(view_margin, 6, roof_->sizeHint().width(), control_height);
  const int x = chooses ? view_margin + roof_->sizeHint().width() + gap : view_margin;
  words_->setVisible(there);
  words_->setGeometry(x, 6, std::max(0, width() - x - view_margin), control_height);
  const int top = 6 + control_height + 4, high = std::max(40, height() - top - 4);
  const bool right = width() >= beside, below = !right && height() >= least_for_below;
  chart_->setVisible(there);
  table_->setVisible(there && (right || below));
  if (right) {
    // If the table is too wide, the last columns, which are the least important, are hidden.
    const int wide = scroll_bar + table_->hide_until_fits(spare_columns, width() * table_share / 100 - scroll_bar);
    table_->resize(wide, high);
    table_->setGeometry(width() - wide - view_margin, top, wide, table_->height_within(high));
    chart_->setGeometry(0, top, width() - wide - view_margin - gap, high);
  } else if (below) {
    table_->hide_until_fits({});
    const int rows = table_->height_within(std::min(table_->height_of(6), high / 2));
    table_->setGeometry(cell_inset, height() - rows - 4, width() - view_margin - cell_inset, rows);
    chart_->setGeometry(0, top, width(), high - rows - gap);
  } else {
    chart_->setGeometry(0, top, width(), high);
  }
}

void RooflineView::paint(QPainter& painter) {
  if (!picture_.empty()) return;
  paint_empty(painter, rect(), colours(), tr("No kernels to show"), picture_.missing);
}

}  // namespace rankscope::app
